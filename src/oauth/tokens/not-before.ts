import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { NotBefore, NotBeforeStore } from '../../stores/ports/not-before.ts'
import type { OAuthOptions } from '../options.ts'

/** Whose tokens end: all of a client, all of a subject, or those of the subject at the client. */
export type NotBeforeTarget = Pick<NotBefore, 'client_id' | 'sub'>

export type Lifetimes = Pick<OAuthOptions, 'accessToken' | 'refreshToken' | 'code' | 'interactionLifetimeSec'>

/** Lifetimes may have been longer when some of the tokens were issued: a cutoff is kept so long at least, in seconds. */
const minLifetimeSec = 366 * 86_400

/**
 * Revokes what was issued until now. Tokens say in whole seconds when they were issued, by the clock of the process that
 * issued them; so the cutoff goes through the second that has begun and the next one. That covers clocks that are up to a
 * second ahead of this one, and all that was begun before the store has it.
 *
 * Resolves when those seconds are over: what is issued from then on is good.
 */
export const setNotBefore = async (
  store: NotBeforeStore,
  clock: Clock,
  target: NotBeforeTarget,
  lifetimes: Lifetimes,
): Promise<NotBefore> => {
  const throughSec = Math.floor(clock.nowMs() / 1000) + 1
  const overAtMs = (throughSec + 1) * 1000
  const cutoff = { ...target, throughSec, untilMs: overAtMs + longestLifetimeSec(lifetimes) * 1000 }
  await store.add(cutoff)
  // A process that stood still meanwhile, or a slow store: what was issued before is not all covered.
  if (clock.nowMs() >= overAtMs) return setNotBefore(store, clock, target, lifetimes)
  while (clock.nowMs() < overAtMs) await sleep(overAtMs - clock.nowMs())
  return cutoff
}

/** The longest that anything lasts which was begun by now: a sign-in, its code, and what that is redeemed for. */
export const longestLifetimeSec = ({ accessToken, refreshToken, code, interactionLifetimeSec }: Lifetimes): number => {
  const tokenSec = Math.max(accessToken.lifetimeSec, refreshToken.lifetimeSec)
  return Math.max(minLifetimeSec, interactionLifetimeSec + code.lifetimeSec + tokenSec)
}
