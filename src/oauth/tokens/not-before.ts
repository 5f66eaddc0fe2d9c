import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { NotBefore, NotBeforeStore } from '../../stores/ports/not-before.ts'
import type { OAuthOptions } from '../options.ts'

/** The tokens to revoke: all of a client, all of a subject, or those of the subject at the client. */
export type NotBeforeTarget = Pick<NotBefore, 'client_id' | 'sub'>

export type Lifetimes = Pick<OAuthOptions, 'accessToken' | 'refreshToken' | 'code' | 'interactionLifetimeSec'>

/**
 * Some tokens may have been issued under a longer lifetime than the configured one, so a cutoff is stored at least
 * this long, in seconds.
 */
const minLifetimeSec = 366 * 86_400

/**
 * Revokes all tokens that were issued until now. Tokens contain their time of issue in whole seconds, by the clock of
 * the process that issued them, so the cutoff includes the current second and the next one. That covers clocks that
 * are up to a second ahead of this one, and everything that begins before the store has the cutoff.
 *
 * Resolves when those seconds are over: tokens that are issued from then on are valid.
 */
export const setNotBefore = async (
  store: NotBeforeStore,
  clock: Clock,
  target: NotBeforeTarget,
  lifetimes: Lifetimes,
): Promise<NotBefore> => {
  const throughSec = Math.floor(clock.nowMs() / 1000) + 1
  const overAtMs = (throughSec + 1) * 1000
  const cutoff = { ...target, throughSec, untilMs: overAtMs + maxLifetimeSec(lifetimes) * 1000 }
  await store.add(cutoff)
  // If this process was stopped meanwhile, or the store was slow, tokens that were issued before are not all covered.
  if (clock.nowMs() >= overAtMs) return setNotBefore(store, clock, target, lifetimes)
  while (clock.nowMs() < overAtMs) await sleep(overAtMs - clock.nowMs())
  return cutoff
}

/**
 * The longest lifetime of anything that has begun by now: a sign-in, its code, and the tokens that the code is
 * redeemed for.
 */
export const maxLifetimeSec = ({ accessToken, refreshToken, code, interactionLifetimeSec }: Lifetimes): number => {
  const tokenSec = Math.max(accessToken.lifetimeSec, refreshToken.lifetimeSec)
  return Math.max(minLifetimeSec, interactionLifetimeSec + code.lifetimeSec + tokenSec)
}
