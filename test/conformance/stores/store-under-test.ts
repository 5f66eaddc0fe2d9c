import type { Test } from 'tap'
import type { Clock } from '../../../src/clock.ts'
import type { Store } from '../../../src/stores/ports/store.ts'

/** The parts of an adapter that the suite needs. */
export interface StoreUnderTest {
  readonly store: Store
  /** The clock that the store was opened with. */
  readonly clock: Clock
  /** Lets this many milliseconds pass, for the clock and for the store. */
  elapse(ms: number): Promise<void>
  /** The store's URL, if other processes can open the store too. */
  readonly shared?: string
  /** Makes the writes of all processes wait until the returned function is called, if the store can do this. */
  readonly holdWrites?: () => () => void
}

/** Opens a store without signing keys; it is closed when the test ends. */
export type OpenStore = (t: Test) => Promise<StoreUnderTest>

/** A lifetime short enough to wait for, long enough for a slow machine to look before it ends. */
export const shortMs = 400
