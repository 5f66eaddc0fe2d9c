import t, { type Test } from 'tap'
import { instrumentStore } from '../../src/stores/instrumented-store.ts'
import { createMemoryStore } from '../../src/stores/memory.ts'
import { StoreUnavailableError } from '../../src/stores/ports/store-unavailable.ts'
import { eventually } from '../support/eventually.ts'
import { createTestClock } from '../support/test-clock.ts'

/** An observed store that counts its pings and can be made unavailable. */
const start = (t: Test, { hasParts = false } = {}) => {
  const seen = { pings: 0, isAway: false, states: [] as boolean[] }
  const answer = async (): Promise<void> => {
    if (seen.isAway) throw new StoreUnavailableError('redis', new Error('away'))
  }
  const memory = createMemoryStore(createTestClock())
  const store = instrumentStore(
    {
      ...memory,
      hasParts,
      feeds: { ends: () => answer().then(memory.feeds.ends) },
      ping: () => {
        seen.pings++
        return answer()
      },
    },
    { answered: () => undefined, state: isUp => seen.states.push(isUp) },
  )
  t.teardown(() => store.close())
  const asking = setInterval(() => store.feeds.ends().catch(() => undefined), 50)
  t.teardown(() => clearInterval(asking))
  return seen
}

t.test('a store that answers calls gets no pings', async t => {
  const seen = start(t)

  await new Promise(resolve => setTimeout(resolve, 2500))

  t.equal(seen.pings, 0)
  t.equal(seen.states.at(-1), true)
})

t.test('a store that does not answer is pinged until it does', async t => {
  const seen = start(t)
  seen.isAway = true
  await eventually(() => seen.states.at(-1) === false && seen.pings > 0)

  seen.isAway = false
  await eventually(() => seen.states.at(-1) === true)

  t.ok(seen.pings > 1)
})

t.test('a store with parts is pinged even if it answers, because only a ping reaches all parts', async t => {
  const seen = start(t, { hasParts: true })

  await eventually(() => seen.pings > 1)

  t.equal(seen.states.at(-1), true)
})
