import type { Charge, Rule } from '../../ports/limiter.ts'
import { ByKey } from '../bounded-key-map.ts'
import type { MonotonicClock } from '../monotonic-clock.ts'
import { Line } from './charge-batch.ts'

/** Finds the line of a charge. */
export type Lines<Question> = (charge: Charge) => Line<Question>

/**
 * Lines outlive the requests: in a map whose entries come and go with each of them V8 makes a new table every few hundred
 * requests, and an old table keeps alive what the later ones led to until a full collection. Those that nobody needs any
 * more are forgotten a few at a time.
 *
 * @param questionOf how the count is asked about a charge; asked once for each line
 */
export const createLines = <Question>(
  clock: MonotonicClock,
  questionOf: (charge: Charge) => Question,
): Lines<Question> => {
  const ofRules = new WeakMap<readonly Rule[], Lines<Question>>()
  return charge => {
    const known = ofRules.get(charge.rules)
    if (known !== undefined) return known(charge)
    const made = linesOfRules(clock, questionOf)
    ofRules.set(charge.rules, made)
    return made(charge)
  }
}

const linesOfRules = <Question>(clock: MonotonicClock, questionOf: (charge: Charge) => Question): Lines<Question> => {
  const lines = new ByKey<Line<Question>>(line => line.isOver())
  return charge => {
    const known = lines.find(charge)
    if (known !== undefined) return known
    const made = new Line(charge, questionOf(charge), clock)
    lines.add(charge, made)
    return made
  }
}
