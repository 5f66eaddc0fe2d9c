import { type MonotonicClock, monotonicClock } from '../../clock.ts'
import type { Algorithm, Charge, Rule, RuleState } from '../ports/limiter.ts'
import { CalendarWindow } from './algorithms/calendar-window.ts'
import { LeakyBucket } from './algorithms/gcra.ts'
import { SlidingLog } from './algorithms/sliding-log.ts'
import { BoundedKeyMap } from './bounded-key-map.ts'
import type { Counter, Terms } from './counter.ts'

/** How many of the requests of a batch with one charge were admitted. */
export interface Admission {
  /** How many of the requests are admitted; they are the first ones. */
  readonly granted: number
  /**
   * How many of the admitted ones the soft rules had room for too; they are the first ones. All of them if there are no
   * soft rules.
   */
  readonly grantedSoftly: number
}

/** The decision about a batch. */
export interface Decision extends Admission {
  /** The state of each rule after the decision. */
  readonly rules: readonly RuleState[]
}

/** The key of the counters and the rules that apply to them. */
export type Count = Pick<Charge, 'key' | 'byAddress' | 'rules'>

/**
 * The counters of one process. A charge is decided as a whole: as many requests are admitted as have room under every
 * hard rule.
 *
 * Expired counters are removed a few at a time when others are counted.
 */
export interface Counters {
  /** @param terms the limits for each rule, if they are not those of the rule itself */
  decide(count: Count, wanted?: number, terms?: readonly Terms[]): Decision
  /** Counts admissions that were decided elsewhere, without checking the limits. `atMicros` may be in the past. */
  record(count: Count, admitted: Admission, terms: readonly Terms[], atMicros: number): void
  /** Number of keys that have counters. */
  readonly size: number
}

/** One of a key's counters, with the algorithm and name that identify it. */
interface Named {
  readonly algorithm: Algorithm
  readonly name: string
  readonly counter: Counter
}

export const createCounters = (clock: MonotonicClock = monotonicClock): Counters => {
  let nowMicros = 0
  /** Each key has only a few, so a linear search is cheaper than building a name and looking it up. */
  const counters = new BoundedKeyMap<Named[]>(ofKey => ofKey.every(({ counter }) => counter.overAtMicros <= nowMicros))

  /** The counters of a key. Sets the current time. */
  const look = (count: Count): Named[] => {
    nowMicros = Math.round(clock.nowMs() * 1000)
    const found = counters.find(count)
    if (found) return found
    const made: Named[] = []
    counters.add(count, made)
    return made
  }
  const stateOf = (counter: Counter, terms: Terms): RuleState => {
    const room = counter.room(terms, nowMicros)
    return { remaining: Math.max(0, room), waitMs: counter.waitMs(terms, nowMicros, room) }
  }

  return {
    decide: (count, wanted = 1, terms = count.rules) => {
      const { rules } = count
      const ofKey = look(count)
      let granted = wanted
      let roomSoftly = wanted
      for (const [nth, rule] of rules.entries()) {
        const room = Math.max(0, counterOf(ofKey, rule).room(terms[nth] ?? rule, nowMicros))
        if (rule.mode === 'soft') roomSoftly = Math.min(roomSoftly, room)
        else granted = Math.min(granted, room)
      }
      const grantedSoftly = Math.min(granted, roomSoftly)
      const states: RuleState[] = []
      for (const [nth, rule] of rules.entries()) {
        const counter = counterOf(ofKey, rule)
        const held = terms[nth] ?? rule
        const admitted = rule.mode === 'soft' ? grantedSoftly : granted
        if (admitted > 0) counter.add(held, nowMicros, admitted)
        states.push(stateOf(counter, held))
      }
      return { granted, grantedSoftly, rules: states }
    },
    record: (count, { granted, grantedSoftly }, terms, atMicros) => {
      const { rules } = count
      const ofKey = look(count)
      for (let nth = 0; nth < rules.length; nth++) {
        const rule = rules[nth] as Rule
        const admitted = rule.mode === 'soft' ? grantedSoftly : granted
        if (admitted > 0) counterOf(ofKey, rule).add(terms[nth] ?? rule, atMicros, admitted)
      }
    },
    get size() {
      return counters.size
    },
  }
}

const counterOf = (ofKey: Named[], { algorithm, counter: name }: Rule): Counter => {
  for (const each of ofKey) if (each.name === name && each.algorithm === algorithm) return each.counter
  const counter = newCounter(algorithm)
  ofKey.push({ algorithm, name, counter })
  return counter
}

const newCounter = (algorithm: Algorithm): Counter => {
  switch (algorithm) {
    case 'strict':
      return new SlidingLog()
    case 'smooth':
      return new LeakyBucket()
    case 'calendar':
      return new CalendarWindow()
  }
}
