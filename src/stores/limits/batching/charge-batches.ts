import type { MonotonicClock } from '../../../clock.ts'
import type { Charge, Rule } from '../../ports/limiter.ts'
import { BoundedKeyMap } from '../bounded-key-map.ts'
import { ChargeBatch } from './charge-batch.ts'

/** Finds the batch of a charge. */
export type ChargeBatches<Question> = (charge: Charge) => ChargeBatch<Question>

/**
 * Batches outlive the requests. With a map whose entries come and go with each request, V8 would allocate a new table
 * every few hundred requests, and an old table keeps everything that the later ones referred to alive until a major
 * collection. Batches that are no longer needed are removed a few at a time.
 *
 * @param questionOf builds the question to the shared count; called once for each batch
 */
export const createChargeBatches = <Question>(
  clock: MonotonicClock,
  questionOf: (charge: Charge) => Question,
): ChargeBatches<Question> => {
  const ofRules = new WeakMap<readonly Rule[], ChargeBatches<Question>>()
  return charge => {
    const known = ofRules.get(charge.rules)
    if (known !== undefined) return known(charge)
    const made = batchesOfRules(clock, questionOf)
    ofRules.set(charge.rules, made)
    return made(charge)
  }
}

const batchesOfRules = <Question>(
  clock: MonotonicClock,
  questionOf: (charge: Charge) => Question,
): ChargeBatches<Question> => {
  const batches = new BoundedKeyMap<ChargeBatch<Question>>(batch => batch.isExpired())
  return charge => {
    const known = batches.find(charge)
    if (known !== undefined) return known
    const made = new ChargeBatch(charge, questionOf(charge), clock)
    batches.add(charge, made)
    return made
  }
}
