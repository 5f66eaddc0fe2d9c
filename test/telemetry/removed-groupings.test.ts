import t from 'tap'
import { followRemovedGroupings } from '../../src/app/removed-groupings.ts'
import { createAggregate } from '../../src/telemetry/aggregate.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { eventually } from '../support/eventually.ts'
import { createTestClock } from '../support/test-clock.ts'

const hourMs = 3_600_000

/** A worker and the primary with the same clock and a configuration that the test changes. */
const start = (t: { teardown(handler: () => unknown): unknown }) => {
  const clock = createTestClock()
  // The wall clock advances by a day at each read, so that only the monotonic clock can measure an hour.
  let days = 0
  const steppingClock = { nowMs: () => days++ * 24 * hourMs, monotonicMs: clock.monotonicMs }
  const state = { groupings: ['Kept', 'Gone'], looks: 0 }
  const config = () => {
    state.looks++
    return { operations: state.groupings.map(grouping => ({ grouping })) as never }
  }
  const aggregate = createAggregate()
  const recorder = createRecorder()
  const drops = { recorder: true, aggregate: true }
  for (const [name, drop] of [
    ['recorder', recorder.forget],
    ['aggregate', aggregate.drop],
  ] as const) {
    const following = followRemovedGroupings(
      { config, drop: names => drops[name] && drop(names), clock: steppingClock },
      1,
    )
    t.teardown(following.close)
  }
  const shown = async (name: string): Promise<readonly string[]> => {
    const changes = recorder.takeChanges()
    if (changes) aggregate.apply('worker', JSON.parse(JSON.stringify(changes)))
    const { body } = await aggregate.expose('text')
    return body.split('\n').filter(line => line.includes(`"${name}"`))
  }
  /** Resolves when both have read the current configuration and the current time. */
  const looked = (): Promise<void> => {
    const before = state.looks
    return eventually(() => state.looks > before + 4)
  }
  const countOne = (grouping: string): void => {
    recorder.counter('httpRequests', [grouping, '1', 'GET /a', 'GET', '200']).add()
    recorder.histogram('overhead', [grouping]).observe(0.1)
  }
  return { clock, state, recorder, drops, shown, looked, countOne }
}

t.test('the series of a grouping are dropped an hour after a reload removed it, and other series are kept', async t => {
  const { clock, state, recorder, shown, looked, countOne } = start(t)
  for (const grouping of ['Kept', 'Gone', 'unmatched']) countOne(grouping)
  const kept = await shown('Kept')
  await looked()
  state.groupings = ['Kept']
  await looked()
  clock.advance(hourMs - 1)
  await looked()
  t.ok((await shown('Gone')).length > 0, 'the series are not dropped earlier')

  clock.advance(1)
  await looked()
  t.same(await shown('Gone'), [])
  t.same(await shown('Kept'), kept)
  t.ok((await shown('unmatched')).length > 0, 'series of unmatched requests are kept')
  t.equal(recorder.takeChanges(), undefined)

  state.groupings = ['Kept', 'Gone']
  await looked()
  countOne('Gone')
  const again = await shown('Gone')
  t.ok(
    again.some(line => /^sidegate_http_requests_total\{.*\} 1$/.test(line)),
    'the count starts again',
  )
})

t.test('a grouping that is configured again within the hour keeps its counts', async t => {
  const { clock, state, shown, looked, countOne } = start(t)
  countOne('Gone')
  await looked()
  state.groupings = ['Kept']
  await looked()
  clock.advance(hourMs - 1)
  state.groupings = ['Kept', 'Gone']
  await looked()
  clock.advance(hourMs - 1)
  await looked()
  countOne('Gone')

  t.ok((await shown('Gone')).some(line => /^sidegate_http_requests_total\{.*\} 2$/.test(line)))
})

t.test('a request in flight after an hour is still shown, and its series are dropped when it has ended', async t => {
  const { clock, state, recorder, shown, looked } = start(t)
  const inFlight = recorder.gauge('httpRequestsInFlight', ['Gone'])
  inFlight.add(1)
  await looked()
  state.groupings = []
  await looked()
  clock.advance(hourMs)
  await looked()
  t.same(await shown('Gone'), ['sidegate_http_requests_in_flight{grouping="Gone"} 1'])

  inFlight.add(-1)
  await shown('Gone')
  await looked()
  t.same(await shown('Gone'), [])
})

t.test('a worker that still counts in a series that the primary has dropped starts the series again', async t => {
  const { clock, state, drops, shown, looked, countOne } = start(t)
  drops.recorder = false
  countOne('Gone')
  countOne('Gone')
  await shown('Gone')
  state.groupings = []
  await looked()
  clock.advance(hourMs)
  await looked()
  t.same(await shown('Gone'), [])

  drops.aggregate = false
  countOne('Gone')
  t.ok((await shown('Gone')).some(line => /^sidegate_http_requests_total\{.*\} 1$/.test(line)))
})
