import { type MonotonicClock, monotonicClock } from '../../clock.ts'
import type { Algorithm, Charge, Rule, RuleState } from '../ports/limiter.ts'
import { CalendarWindow } from './algorithms/calendar-window.ts'
import { LeakyBucket } from './algorithms/gcra.ts'
import { SlidingLog } from './algorithms/sliding-log.ts'
import { BoundedKeyMap } from './bounded-key-map.ts'
import type { Counter, Terms } from './counter.ts'

/** What was let in of requests of one charge that came together. */
export interface Admission {
  /** How many of those asked for are let in, the first ones. */
  readonly granted: number
  /** How many of these the soft rules had room for too, the first ones; without soft rules all. */
  readonly grantedSoftly: number
}

/** What was decided on them. */
export interface Decision extends Admission {
  /** Of each rule, after that. */
  readonly rules: readonly RuleState[]
}

/** Whose counters, and the rules they are held to. */
export type Count = Pick<Charge, 'key' | 'byAddress' | 'rules'>

/**
 * The counters of one process. A charge is decided as a whole: as many are let in as have room under every hard rule.
 *
 * Counters that have run out are forgotten a few at a time, as others are counted.
 */
export interface Counters {
  /** @param terms what each rule is held to, where it is not the rule itself */
  decide(count: Count, wanted?: number, terms?: readonly Terms[]): Decision
  /** Writes admissions down that were decided elsewhere, and at an instant that may be past, without asking whether they fit. */
  record(count: Count, admitted: Admission, terms: readonly Terms[], atMicros: number): void
  /** Number of keys whose counters are kept. */
  readonly size: number
}

/** One of a key's counters, with what tells it from the others. */
interface Named {
  readonly algorithm: Algorithm
  readonly name: string
  readonly counter: Counter
}

export const createCounters = (clock: MonotonicClock = monotonicClock): Counters => {
  let nowMicros = 0
  /** Few for each key: they are looked through, which is cheaper than a name to put together and look up. */
  const counters = new BoundedKeyMap<Named[]>(ofKey => ofKey.every(({ counter }) => counter.overAtMicros <= nowMicros))

  /** The counters of a key, now. */
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
