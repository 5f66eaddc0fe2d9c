import type { Clock } from '../../src/clock.ts'

/** A clock that stands still until the test advances it. */
export interface TestClock extends Clock {
  advance(ms: number): void
}

export const createTestClock = (startMs = 1_790_000_000_000): TestClock => {
  let nowMs = startMs
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    advance: ms => {
      nowMs += ms
    },
  }
}
