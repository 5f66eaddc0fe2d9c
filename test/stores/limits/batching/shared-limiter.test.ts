import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  type BatchedCharge,
  createLimiterService,
  createSharedLimiter,
  type LimiterChannel,
} from '../../../../src/stores/limits/batching/shared-limiter.ts'
import type { Verdict } from '../../../../src/stores/ports/limiter.ts'
import { testLimiter } from '../../../conformance/limiters.ts'
import { mostInAnyWindow } from '../../../conformance/oracle.ts'
import { newCharge } from '../../../support/charges.ts'
import { eventually } from '../../../support/eventually.ts'
import { createTestClock } from '../../../support/test-clock.ts'

/** A channel as between processes: every message is converted to JSON and back. */
const channelTo =
  (decide: ReturnType<typeof createLimiterService>): LimiterChannel =>
  async charges =>
    JSON.parse(JSON.stringify(decide(JSON.parse(JSON.stringify(charges)))))

const one = { index: 0, of: 1 }

testLimiter(t, async () => {
  const clock = createTestClock()
  const channel = channelTo(createLimiterService(clock))
  const limiter = createSharedLimiter(channel, { share: () => one, onStateChange: () => undefined, clock })
  return { limiter, nowMs: clock.nowMs, elapse: async ms => clock.advance(ms) }
})

t.test('four workers that share a count let in the limit together, in any second', async t => {
  const clock = createTestClock(0)
  const channel = channelTo(createLimiterService(clock))
  const workers = Array.from({ length: 4 }, () =>
    createSharedLimiter(channel, { share: () => one, onStateChange: () => undefined, clock }),
  )
  const charge = newCharge(100)
  const admissions: number[] = []
  while (clock.nowMs() < 5000) {
    const verdicts = await Promise.all(workers.map(worker => worker.charge(charge)))
    for (const { allowed } of verdicts) if (allowed) admissions.push(clock.nowMs())
    clock.advance(3.5)
  }

  t.ok(mostInAnyWindow(admissions, 1000) <= 100)
  t.ok(admissions.length >= 0.97 * 500)
})

t.test('all charges of one turn are sent in one message, grouped by key', async t => {
  const messages: (readonly BatchedCharge[])[] = []
  const channel = channelTo(createLimiterService())
  const ask: LimiterChannel = charges => {
    messages.push(charges)
    return channel(charges)
  }
  const limiter = createSharedLimiter(ask, { share: () => one, onStateChange: () => undefined })
  const [first, second] = [newCharge(10), newCharge(10)]

  await Promise.all([first, second, first].map(charge => limiter.charge(charge)))

  t.match(messages, [
    [
      { key: first.key, count: 2 },
      { key: second.key, count: 1 },
    ],
  ])
  t.equal(messages.length, 1)
})

t.test('a key that is refused costs no message until its wait is over', async t => {
  const clock = createTestClock()
  const channel = channelTo(createLimiterService(clock))
  let messages = 0
  const ask: LimiterChannel = charges => {
    messages++
    return channel(charges)
  }
  const limiter = createSharedLimiter(ask, { share: () => one, onStateChange: () => undefined, clock })
  const charge = newCharge(1)
  await limiter.charge(charge)

  for (let i = 0; i < 100; i++) t.match(limiter.charge(charge), { allowed: false })

  t.equal(messages, 1)
  clock.advance(400)
  t.match(
    limiter.charge(charge),
    { allowed: false, waitMs: 600, rules: [{ remaining: 0, waitMs: 600 }] },
    'the wait counts down',
  )
})

/** A counting process that can be made to refuse or to stay silent. */
const openFailing = (share = one) => {
  const channel = channelTo(createLimiterService())
  const state: { mode: 'well' | 'broken' | 'silent'; changes: boolean[] } = { mode: 'well', changes: [] }
  const ask: LimiterChannel = charges => {
    if (state.mode === 'broken') return Promise.reject(new Error('the channel is closed'))
    return state.mode === 'silent' ? new Promise(() => undefined) : channel(charges)
  }
  const onStateChange = (up: boolean): void => void state.changes.push(up)
  return { limiter: createSharedLimiter(ask, { share: () => share, onStateChange }), state }
}

for (const mode of ['broken', 'silent'] as const) {
  t.test(`while the counting process is ${mode} the worker keeps to its share, and comes back`, async t => {
    const { limiter, state } = openFailing({ index: 0, of: 4 })
    state.mode = mode
    const charge = newCharge(10)

    const verdicts = await Promise.all(Array.from({ length: 10 }, () => limiter.charge(charge)))

    t.equal(verdicts.filter(({ allowed }) => allowed).length, 3)
    t.ok(verdicts.every(({ source }) => source === 'local'))
    t.match(limiter.charge(charge), { source: 'local' }, 'known to be away, it is not waited for again')
    state.mode = 'well'
    await eventually(async () => (await limiter.charge(newCharge(10))).source === 'store')
    t.same(state.changes, [false, true])
  })
}

t.test('the worker waits for a counting process that is busy, and no charge is counted twice', async t => {
  const channel = channelTo(createLimiterService())
  const ask: LimiterChannel = async charges => {
    const verdicts = await channel(charges)
    await sleep(300)
    return verdicts
  }
  const limiter = createSharedLimiter(ask, { share: () => one, onStateChange: up => t.ok(up) })
  const charge = newCharge(10)

  const verdicts = await Promise.all(Array.from({ length: 20 }, () => limiter.charge(charge)))

  t.ok(verdicts.every(({ source }) => source === 'store'))
  t.equal(verdicts.filter(({ allowed }) => allowed).length, 10)
})

t.test('an admission by the shared count counts against the share', async t => {
  const { limiter, state } = openFailing({ index: 0, of: 2 })
  const charge = newCharge(10)
  for (let i = 0; i < 4; i++) await limiter.charge(charge)
  state.mode = 'broken'

  const verdicts: Verdict[] = []
  for (let i = 0; i < 5; i++) verdicts.push(await limiter.charge(charge))

  t.same(
    verdicts.map(({ allowed }) => allowed),
    [true, false, false, false, false],
  )
})

const whenAway = async (t: Test, whenStoreFails: 'open' | 'closed'): Promise<Verdict> => {
  const { limiter, state } = openFailing()
  state.mode = 'broken'
  const verdict = await limiter.charge({ ...newCharge(10), whenStoreFails })
  t.equal(verdict.source, whenStoreFails)
  return verdict
}

t.test('while the store is away, an open plan allows every charge and a closed plan refuses every one', async t => {
  t.equal((await whenAway(t, 'open')).allowed, true)
  t.equal((await whenAway(t, 'closed')).allowed, false)
})
