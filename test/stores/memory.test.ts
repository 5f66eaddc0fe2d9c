import t from 'tap'
import { createMemoryStore } from '../../src/stores/memory.ts'
import { testStore } from '../conformance/stores.ts'
import { createTestClock } from '../support/test-clock.ts'

testStore(t, async () => {
  const clock = createTestClock()
  return { store: createMemoryStore(clock), clock, elapse: async ms => clock.advance(ms) }
})
