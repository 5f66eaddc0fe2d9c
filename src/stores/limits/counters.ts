import { createGradualEviction } from '../gradual-eviction.ts'
import type { Algorithm, Charge, Rule, RuleState } from '../ports/limiter.ts'
import { CalendarWindow } from './calendar-window.ts'
import type { Counter, Terms } from './counter.ts'
import { LeakyBucket } from './leaky-bucket.ts'
import { type MonotonicClock, monotonicClock } from './monotonic-clock.ts'
import { SlidingLog } from './sliding-log.ts'

/** What was decided on requests of one charge that came together. */
export interface Decision {
  /** How many of those asked for are let in, the first ones. */
  readonly granted: number
  /** How many of these the soft rules had room for too, the first ones; without soft rules all. */
  readonly grantedSoftly: number
  /** Of each rule, after that. */
  readonly rules: readonly RuleState[]
}

/** Whose counters, and the rules they are held to. */
export type Count = Pick<Charge, 'key' | 'rules'>

/**
 * The counters of one process. A charge is decided as a whole: as many are let in as have room under every hard rule.
 *
 * Counters that have run out are forgotten a few at a time, as others are counted.
 */
export interface Counters {
  /** @param terms what each rule is held to, where it is not the rule itself */
  decide(count: Count, wanted?: number, terms?: readonly Terms[]): Decision
  /** Writes admissions down that were decided elsewhere, without asking whether they fit. */
  record(count: Count, decision: Decision, terms?: readonly Terms[]): void
  /** Number of counters that are kept. */
  readonly size: number
}

/** One rule with its counter at one decision. */
interface Held {
  readonly rule: Rule
  readonly terms: Terms
  readonly counter: Counter
}

export const createCounters = (clock: MonotonicClock = monotonicClock): Counters => {
  const counters = new Map<string, Counter>()
  let nowMicros = 0
  let calls = 0
  /** Looks for counters that have run out, to be taken before the next decision: none may go in the middle of one. */
  let looks = 0
  const evict = createGradualEviction(counters, counter => counter.overAtMicros <= nowMicros)

  const find = (key: string, rule: Rule): Counter => {
    const name = `${key} ${rule.algorithm} ${rule.counter}`
    const found = counters.get(name)
    if (found) return found
    looks += 3
    const made = newCounter(rule.algorithm)
    counters.set(name, made)
    return made
  }
  const hold = ({ key, rules }: Count, terms: readonly Terms[]): readonly Held[] => {
    nowMicros = Math.round(clock.nowMs() * 1000)
    // One look in 16 calls lets a collection shrink that no new key comes to; three for a new key keep it bounded.
    if (++calls % 16 === 0) looks++
    if (looks > 0) evict(looks)
    looks = 0
    return rules.map((rule, place) => ({ rule, terms: terms[place] ?? rule, counter: find(key, rule) }))
  }
  const add = (held: readonly Held[], granted: number, grantedSoftly: number): void => {
    for (const { rule, terms, counter } of held) {
      const admitted = rule.mode === 'soft' ? grantedSoftly : granted
      if (admitted > 0) counter.add(terms, nowMicros, admitted)
    }
  }
  const stateOf = ({ terms, counter }: Held): RuleState => {
    const room = counter.room(terms, nowMicros)
    return { remaining: Math.max(0, room), waitMs: counter.waitMs(terms, nowMicros, room) }
  }

  return {
    decide: (count, wanted = 1, terms = count.rules) => {
      const held = hold(count, terms)
      let granted = wanted
      let roomSoftly = wanted
      for (const { rule, terms, counter } of held) {
        const room = Math.max(0, counter.room(terms, nowMicros))
        if (rule.mode === 'soft') roomSoftly = Math.min(roomSoftly, room)
        else granted = Math.min(granted, room)
      }
      const grantedSoftly = Math.min(granted, roomSoftly)
      add(held, granted, grantedSoftly)
      return { granted, grantedSoftly, rules: held.map(stateOf) }
    },
    record: (count, { granted, grantedSoftly }, terms = count.rules) => {
      if (granted > 0) add(hold(count, terms), granted, grantedSoftly)
    },
    get size() {
      return counters.size
    },
  }
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
