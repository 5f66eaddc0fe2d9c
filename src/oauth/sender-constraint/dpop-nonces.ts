import type { Clock } from '../../clock.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { timingSafeEqualText } from '../timing-safe-equal.ts'

/**
 * Nonces for DPoP proofs (RFC 9449 section 8). Each is derived from a span of time with the digest key that all
 * workers and pods share, so any of them can verify a nonce of another one, and nothing is stored.
 */
export interface Nonces {
  current(): string
  /** `aging`: the nonce is still accepted, but the client should use the current one from now on. */
  judge(nonce: string): 'fresh' | 'aging' | 'stale'
}

/** A nonce is accepted in its own span and in the next one: two and a half to five minutes. */
const nonceSpanMs = 150_000

export const createNonces = (keys: Pick<KeyRing, 'digest'>, clock: Clock): Nonces => {
  const nonceOf = (span: number): string => keys.digest(`dpop nonce ${span}`)
  const spanNow = (): number => Math.floor(clock.nowMs() / nonceSpanMs)
  return {
    current: () => nonceOf(spanNow()),
    judge: nonce => {
      const span = spanNow()
      // The nonce of the next span may come from a pod whose clock is ahead.
      if (timingSafeEqualText(nonce, nonceOf(span)) || timingSafeEqualText(nonce, nonceOf(span + 1))) return 'fresh'
      return timingSafeEqualText(nonce, nonceOf(span - 1)) ? 'aging' : 'stale'
    },
  }
}
