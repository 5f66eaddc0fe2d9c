import { randomFillSync } from 'node:crypto'

/** Random bytes as base64url text (RFC 4648 section 5). @param bytes at most `poolBytes` */
export type RandomText = (bytes: number) => string

/** A call of the generator costs 2.5 µs, however few bytes it fills; 4096 bytes are 256 token identifiers. */
export const poolBytes = 4096

/**
 * Random texts from a pool of bytes that is filled as a whole. Each byte is used once and then erased from the pool, so
 * that reading the memory of the process does not reveal issued values there.
 *
 * @param fill overwrites the whole pool with bytes of a cryptographic generator
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

/**
 * For identifiers and secrets that must not be guessable. Each process has a pool of its own: a worker is a new process
 * with its own memory.
 */
export const randomText: RandomText = createRandomText(randomFillSync)
