import { type BinaryLike, type ScryptOptions, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { OAuthError } from '../../errors.ts'

/** What one scrypt run is asked for (RFC 7914 section 2). */
export interface ScryptJob {
  readonly secret: BinaryLike
  readonly salt: Buffer
  readonly lengthBytes: number
  /** N = 2^ln. */
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** Half of libuv's four threads, so that files and name look-ups never wait behind passwords. */
const mostAtOnce = 2

/** About four seconds of work at 33 ms a run; who comes later is told to come back rather than kept waiting. */
const mostWaiting = 200

const runScrypt = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt)

let running = 0
const waiting: (() => void)[] = []

/**
 * Runs scrypt off the main thread, at most two at once in this process; the others wait their turn.
 * @throws OAuthError temporarily_unavailable when 200 wait already.
 */
export const deriveKey = async (job: ScryptJob): Promise<Buffer> => {
  await takeTurn()
  try {
    const { secret, salt, lengthBytes, ln, r, p } = job
    const N = 2 ** ln
    return await runScrypt(secret, salt, lengthBytes, { N, r, p, maxmem: 128 * r * (N + p + 2) })
  } finally {
    passTurn()
  }
}

const takeTurn = async (): Promise<void> => {
  if (running < mostAtOnce) {
    running++
    return
  }
  if (waiting.length >= mostWaiting) {
    throw new OAuthError('temporarily_unavailable', 'Too many secrets are being checked; try again in a moment.', {
      headers: { 'retry-after': '1' },
    })
  }
  await new Promise<void>(resolve => waiting.push(resolve))
}

const passTurn = (): void => {
  const next = waiting.shift()
  if (next) next()
  else running--
}
