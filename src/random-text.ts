import { randomFillSync } from 'node:crypto'

/** Random bytes as base64url text (RFC 4648 section 5). @param bytes at most `poolBytes` */
export type RandomText = (bytes: number) => string

/** A call of the generator costs 2.5 µs, however few bytes it is asked for; 4096 bytes are 256 names of tokens. */
export const poolBytes = 4096

/**
 * Random texts out of a pool that is filled as a whole. No byte is handed out twice, and none stays in the pool once it has
 * been: what a process issued cannot be read from its memory there.
 *
 * @param fill writes over the whole pool with bytes of a cryptographic generator
 */
export const createRandomText = (fill: (pool: Buffer) => void): RandomText => {
  const pool = Buffer.alloc(poolBytes)
  let used = poolBytes
  return bytes => {
    if (bytes > poolBytes) throw new RangeError(`a random text has at most ${poolBytes} bytes`)
    if (used + bytes > poolBytes) {
      fill(pool)
      used = 0
    }
    const from = used
    used += bytes
    const text = pool.toString('base64url', from, used)
    pool.fill(0, from, used)
    return text
  }
}

/** For names and secrets that nobody may guess. Each process has a pool of its own: workers are started, not forked. */
export const randomText: RandomText = createRandomText(randomFillSync)
