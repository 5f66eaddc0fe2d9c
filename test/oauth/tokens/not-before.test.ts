import t from 'tap'
import { setNotBefore } from '../../../src/oauth/tokens/not-before.ts'
import { createCutoffs } from '../../../src/stores/memory/not-before.ts'
import type { NotBefore } from '../../../src/stores/ports/not-before.ts'

const lifetimes = {
  accessToken: { lifetimeSec: 600, format: 'jwt', alg: 'ES256' },
  refreshToken: { lifetimeSec: 3600, reuseWindowSec: 60 },
  code: { lifetimeSec: 60 },
  interactionLifetimeSec: 600,
} as const

/** A running clock from this instant on, which a test may advance. */
const createClock = (startMs: number) => {
  let offsetMs = startMs - performance.now()
  return {
    nowMs: () => performance.now() + offsetMs,
    monotonicMs: () => performance.now() + offsetMs,
    skip: (ms: number) => {
      offsetMs += ms
    },
  }
}

t.test('a cutoff covers the current second and the next one, and the call waits until both are over', async t => {
  const clock = createClock(10_950)
  const store = createCutoffs(clock)

  const cutoff = await setNotBefore(store, clock, { client_id: 'app' }, lifetimes)

  t.ok(clock.nowMs() >= 12_000)
  t.same((await store.since(undefined)).cutoffs, [cutoff])
  t.equal(cutoff.client_id, 'app')
  t.equal(cutoff.throughSec, 11)
  t.ok(cutoff.untilMs >= 12_000 + 366 * 86_400_000, 'lifetimes may have been longer before')
})

t.test('if the store took longer, another cutoff covers the tokens that were issued meanwhile', async t => {
  const clock = createClock(10_950)
  const store = createCutoffs(clock)
  let added = 0
  const slow = {
    ...store,
    add: async (cutoff: NotBefore) => {
      await store.add(cutoff)
      added += 1
      if (added === 1) clock.skip(2000)
    },
  }

  await setNotBefore(slow, clock, { sub: 'person' }, lifetimes)

  const [first, second, ...others] = (await store.since(undefined)).cutoffs
  t.equal(first?.throughSec, 11)
  t.ok(Number(second?.throughSec) >= 13)
  t.same(others, [])
})
