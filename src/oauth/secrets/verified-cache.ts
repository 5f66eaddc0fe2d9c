import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Secret } from '../../secret.ts'
import { createGenerationalCache } from '../generational-cache.ts'

/**
 * The pairs of secret and stored form that matched recently. It holds keyed digests only, neither the secret nor the
 * stored form.
 */
export interface VerifiedCache {
  keyOf(secret: Secret, hash: Secret): string
  has(key: string): boolean
  add(key: string): void
}

const lifetimeMs = 5 * 60_000
const maxEntries = 5_000

/** Creates an empty cache of limited size. An entry is valid for five minutes. */
export const createVerifiedCache = (clock: Clock): VerifiedCache => {
  // The key exists only in this process, so a memory dump without it cannot be tested against a list of passwords.
  const processKey = randomBytes(32)
  const untilMs = createGenerationalCache<number>(maxEntries)
  return {
    // The stored form is part of the key, so that a changed password is not found. A stored form has no NUL, so the
    // join is unambiguous.
    keyOf: (secret, hash) =>
      createHmac('sha256', processKey).update(`${hash.reveal()}\0${secret.reveal()}`).digest('base64url'),
    has: key => (untilMs.get(key) ?? 0) > clock.monotonicMs(),
    add: key => untilMs.set(key, clock.monotonicMs() + lifetimeMs),
  }
}
