import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Secret } from '../secret.ts'

/** Which pairs of secret and stored form were found right of late. Holds neither of them, only keyed digests. */
export interface VerifiedMemory {
  keyOf(secret: Secret, hash: Secret): string
  has(key: string): boolean
  add(key: string): void
}

const rememberedMs = 5 * 60_000
const mostRemembered = 10_000

/** An empty memory, bounded to 10 000 entries (the oldest goes first) of five minutes each. */
export const createVerifiedMemory = (clock: Clock): VerifiedMemory => {
  // A key that dies with the process: a dump of the map alone cannot be tried against a list of passwords.
  const processKey = randomBytes(32)
  const untilMs = new Map<string, number>()
  return {
    // The stored form goes in too, so a changed password forgets by itself. It has no NUL: the join is unambiguous.
    keyOf: (secret, hash) =>
      createHmac('sha256', processKey).update(`${hash.reveal()}\0${secret.reveal()}`).digest('base64url'),
    has: key => (untilMs.get(key) ?? 0) > clock.nowMs(),
    add: key => {
      untilMs.delete(key) // so that a renewed entry moves to the end
      for (const oldest of untilMs.keys()) {
        if (untilMs.size < mostRemembered) break
        untilMs.delete(oldest)
      }
      untilMs.set(key, clock.nowMs() + rememberedMs)
    },
  }
}
