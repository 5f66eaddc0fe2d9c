import type { MonotonicClock } from '../../../clock.ts'
import type { Charge, Rule } from '../../ports/limiter.ts'
import { BoundedKeyMap } from '../bounded-key-map.ts'
import { ChargeBatch } from './charge-batch.ts'

/** Finds the line of a charge. */
export type ChargeBatches<Question> = (charge: Charge) => ChargeBatch<Question>

/**
 * Lines outlive the requests: in a map whose entries come and go with each of them V8 makes a new table every few hundred
 * requests, and an old table keeps alive what the later ones led to until a full collection. Those that nobody needs any
 * more are forgotten a few at a time.
 *
 * @param questionOf how the count is asked about a charge; asked once for each line
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
