import { mostCertainInAnyWindow } from '../../conformance/oracle.ts'
import { type Answer, toSeen } from './trace.ts'

/** The limit that a limiter has to keep, for each client by itself. */
export interface Terms {
  readonly limit: number
  readonly windowMs: number
}

/** The part of a run that is judged, by the time of sending. Earlier requests still count in the windows. */
export interface Span {
  readonly beginsAtMs: number
  /** From here on the terms hold; at first the change to them is under way, and only answers and waits are judged. */
  readonly settledAtMs: number
  readonly endsAtMs: number
}

/** The result of a run, or of a part of it. */
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

const wholeRun: Span = {
  beginsAtMs: Number.NEGATIVE_INFINITY,
  settledAtMs: Number.NEGATIVE_INFINITY,
  endsAtMs: Number.POSITIVE_INFINITY,
}

/** Judges by what was certainly so, whenever between its sending and its arrival a request was decided. */
export const judge = (answers: readonly Answer[], terms: Terms, span = wholeRun): Judgement => {
  const spanned = sentWithin(answers, span.beginsAtMs, span.endsAtMs)
  const settled = sentWithin(answers, span.settledAtMs, span.endsAtMs)
  const waitsMs = spanned.map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs).sort((a, b) => a - b)
  const known = byClient(sentWithin(answers, Number.NEGATIVE_INFINITY, span.endsAtMs))
  return {
    offeredPerSec: perSecond(spanned),
    most: mostOfOne(settled, terms.windowMs),
    share: count(settled, 'admitted') / sum(known.map(client => mostAdmissible(client, terms, span.settledAtMs))),
    falseRefusals: sum(known.map(client => countFalseRefusals(client, terms, span.settledAtMs))),
    failed: count(spanned, 'failed'),
    p50Ms: quantile(waitsMs, 0.5),
    p99Ms: quantile(waitsMs, 0.99),
  }
}

/** The most of one client that were certainly let in within one window. */
export const mostOfOne = (answers: readonly Answer[], windowMs: number): number =>
  byClient(answers)
    .map(client => mostCertainInAnyWindow(client.filter(isAdmitted).map(toSeen), windowMs))
    .reduce((a, b) => Math.max(a, b), 0)

export const sentWithin = (answers: readonly Answer[], fromMs: number, untilMs: number): readonly Answer[] =>
  answers.filter(({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs < untilMs)

const byClient = (answers: readonly Answer[]): readonly (readonly Answer[])[] => [
  ...Map.groupBy(answers, ({ client }) => client).values(),
]

const isAdmitted = ({ outcome }: Answer): boolean => outcome === 'admitted'

const count = (answers: readonly Answer[], outcome: Answer['outcome']): number =>
  answers.filter(answer => answer.outcome === outcome).length

/**
 * How many of one client's requests from `fromMs` on a limiter would let in that decides each one as it is sent, and
 * lets in every request that has room after the earlier ones.
 */
const mostAdmissible = (answers: readonly Answer[], { limit, windowMs }: Terms, fromMs: number): number => {
  const inOrder = answers.toSorted((a, b) => a.sentAtMs - b.sentAtMs)
  const admittedAtMs = inOrder.filter(each => each.sentAtMs < fromMs && isAdmitted(each)).map(each => each.sentAtMs)
  const before = admittedAtMs.length
  for (const { sentAtMs } of inOrder) {
    if (sentAtMs < fromMs) continue
    const freesAtMs = (admittedAtMs.at(-limit) ?? 0) + windowMs
    if (admittedAtMs.length < limit || sentAtMs >= freesAtMs) admittedAtMs.push(sentAtMs)
  }
  return admittedAtMs.length - before
}

/**
 * Refusals of one client, from `fromMs` on, that no order of events explains. There would have been room even if all
 * requests that may have been let in within one window before one of the instants when it may have been decided had
 * been let in.
 */
const countFalseRefusals = (answers: readonly Answer[], { limit, windowMs }: Terms, fromMs: number): number => {
  // Where the answer was lost a request may have been let in all the same.
  const possible = answers.filter(({ outcome }) => outcome !== 'refused')
  const beginnings = possible.map(({ sentAtMs }) => sentAtMs).sort((a, b) => a - b)
  const ends = possible.map(({ decidedByMs }) => decidedByMs).sort((a, b) => a - b)
  return answers
    .filter(({ outcome, sentAtMs }) => outcome === 'refused' && sentAtMs >= fromMs)
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
