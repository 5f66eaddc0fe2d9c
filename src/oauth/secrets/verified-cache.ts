import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Secret } from '../../secret.ts'
import { createGenerationalCache } from '../generational-cache.ts'

/** Which pairs of secret and stored form were found right of late. Holds neither of them, only keyed digests. */
export interface VerifiedCache {
  keyOf(secret: Secret, hash: Secret): string
  has(key: string): boolean
  add(key: string): void
}

const lifetimeMs = 5 * 60_000
const maxEntries = 5_000

/** An empty memory of bounded size; an entry holds for five minutes. */
export const createVerifiedCache = (clock: Clock): VerifiedCache => {
  // A key that dies with the process: a dump of the memory alone cannot be tried against a list of passwords.
  const processKey = randomBytes(32)
  const untilMs = createGenerationalCache<number>(maxEntries)
  return {
    // The stored form goes in too, so a changed password forgets by itself. It has no NUL: the join is unambiguous.
    keyOf: (secret, hash) =>
      createHmac('sha256', processKey).update(`${hash.reveal()}\0${secret.reveal()}`).digest('base64url'),
    has: key => (untilMs.get(key) ?? 0) > clock.monotonicMs(),
    add: key => untilMs.set(key, clock.monotonicMs() + lifetimeMs),
  }
}
