import { mostCertainInAnyWindow } from '../../conformance/oracle.ts'
import { type Answer, toSeen } from './trace.ts'

/** What a limiter has to keep, for each client by itself. */
export interface Terms {
  readonly limit: number
  readonly windowMs: number
}

/** What came of a run. */
export interface Judgement {
  readonly offeredPerSec: number
  /** The most of one client that were certainly let in within one window. */
  readonly most: number
  /** Let in, of what a limiter without fault would have let in at these instants. */
  readonly share: number
  /** Refusals though the window certainly had room. */
  readonly falseRefusals: number
  /** Requests with another answer than 200 and 429, or none. */
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Judges a run by what was certainly so, whenever between its sending and its arrival a request was decided. */
export const judge = (answers: readonly Answer[], terms: Terms): Judgement => {
  const clients = [...Map.groupBy(answers, ({ client }) => client).values()]
  const admitted = count(answers, 'admitted')
  const admissible = sum(clients.map(client => mostAdmissible(client, terms)))
  const waitsMs = answers.map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs).sort((a, b) => a - b)
  return {
    offeredPerSec: perSecond(answers),
    most: largest(clients.map(client => mostIn(client, terms.windowMs))),
    share: admitted / admissible,
    falseRefusals: sum(clients.map(client => countFalseRefusals(client, terms))),
    failed: count(answers, 'failed'),
    p50Ms: quantile(waitsMs, 0.5),
    p99Ms: quantile(waitsMs, 0.99),
  }
}

const count = (answers: readonly Answer[], outcome: Answer['outcome']): number =>
  answers.filter(answer => answer.outcome === outcome).length

const mostIn = (answers: readonly Answer[], windowMs: number): number =>
  mostCertainInAnyWindow(answers.filter(({ outcome }) => outcome === 'admitted').map(toSeen), windowMs)

/** How many a limiter would let in that decides each request as it is sent, and lets in whatever there is room for. */
const mostAdmissible = (answers: readonly Answer[], { limit, windowMs }: Terms): number => {
  const admittedAtMs: number[] = []
  for (const { sentAtMs } of answers.toSorted((a, b) => a.sentAtMs - b.sentAtMs)) {
    const freesAtMs = (admittedAtMs.at(-limit) ?? 0) + windowMs
    if (admittedAtMs.length < limit || sentAtMs >= freesAtMs) admittedAtMs.push(sentAtMs)
  }
  return admittedAtMs.length
}

/**
 * Refusals of one client that no order of events excuses: even if all that may have been let in within one window before
 * one of the instants when it may have been decided had been, there would have been room.
 */
const countFalseRefusals = (answers: readonly Answer[], { limit, windowMs }: Terms): number => {
  // Where the answer was lost a request may have been let in all the same.
  const possible = answers.filter(({ outcome }) => outcome !== 'refused')
  const beginnings = possible.map(({ sentAtMs }) => sentAtMs).sort((a, b) => a - b)
  const ends = possible.map(({ decidedByMs }) => decidedByMs).sort((a, b) => a - b)
  return answers
    .filter(({ outcome }) => outcome === 'refused')
    .map(refusal => countUpTo(beginnings, refusal.decidedByMs) - countUpTo(ends, refusal.sentAtMs - windowMs))
    .filter(inWindow => inWindow < limit).length
}

/** How many of the rising numbers are not above this. */
const countUpTo = (rising: readonly number[], highest: number): number => {
  let [from, to] = [0, rising.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((rising[middle] ?? highest) <= highest) from = middle + 1
    else to = middle
  }
  return from
}

const perSecond = (answers: readonly Answer[]): number => {
  const sentAtMs = answers.map(answer => answer.sentAtMs)
  const lastedMs = largest(sentAtMs) + largest(sentAtMs.map(atMs => -atMs))
  return (1000 * (answers.length - 1)) / lastedMs
}

const quantile = (rising: readonly number[], share: number): number =>
  rising[Math.ceil(share * rising.length) - 1] ?? Number.NaN

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Not Math.max(...), which takes only so many arguments. */
const largest = (numbers: readonly number[]): number =>
  numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
