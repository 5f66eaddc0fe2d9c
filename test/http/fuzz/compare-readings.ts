import { findNodeDeviation } from './node-deviations.ts'
import type { Message, Reading } from './reading.ts'
import { membersOf } from './reading.ts'
import { findRefusalRow } from './refusal-table.ts'

/** The result of a comparison. Everything but a violation is allowed. */
export type Verdict =
  /** Both read the same messages, and neither refuses what is behind them. */
  | { readonly is: 'same' }
  /** Both read the same messages and refuse what is behind them. */
  | { readonly is: 'both-refuse'; readonly reason: string }
  /** Node accepts what our server refuses, for a reason that the refusal table names. */
  | { readonly is: 'we-refuse'; readonly reason: string }
  /** Our server refuses the beginning of a message that Node still waits for. */
  | { readonly is: 'we-refuse-first'; readonly reason: string }
  /** Node refuses the beginning of a message that our server still waits for. */
  | { readonly is: 'node-refuses-first'; readonly reason: string }
  /** Our server ends the connection, as the last message asks for, and Node reads on. */
  | { readonly is: 'we-close' }
  /** Node refuses or loses what our server accepts, because of a known deviation of Node's. */
  | { readonly is: 'node-deviates'; readonly deviation: string }
  | { readonly is: 'violation'; readonly what: string }

/**
 * Holds our reading to Node's of the same bytes: what ours accepts Node's accepts, and both see the same.
 * @param bytes latin1
 */
export const compareReadings = (ours: Reading, node: Reading, bytes: string): Verdict => {
  for (const [place, message] of ours.messages.entries()) {
    const verdict = compareMessage(message, place, ours, node)
    if (verdict !== undefined) return verdict
  }
  return compareEnds(ours, node, bytes)
}

/** Holds the reading of bytes that came in pieces to the reading of the whole. */
export const compareCut = (whole: Reading, cut: Reading): Verdict => {
  for (const [place, message] of whole.messages.entries()) {
    const other = cut.messages[place]
    if (other === undefined) return violation(`message ${place} is lost if the bytes are cut`)
    const isSameBody = message.isComplete === other.isComplete && bodiesAgree(message, other, whole)
    const what = differenceOf(message, other) ?? (isSameBody ? undefined : 'body')
    if (what !== undefined) return violation(`${what} of message ${place} differs if the bytes are cut`)
  }
  const isSame = whole.messages.length === cut.messages.length && JSON.stringify(whole.end) === JSON.stringify(cut.end)
  return isSame
    ? { is: 'same' }
    : violation(`${JSON.stringify(whole.end)} is ${JSON.stringify(cut.end)} if the bytes are cut`)
}

/** @returns undefined if the comparison goes on behind this message */
const compareMessage = (message: Message, place: number, ours: Reading, node: Reading): Verdict | undefined => {
  const other = node.messages[place]
  if (other === undefined) return deviationOr(node, `Node does not read message ${place} (${endOf(node)})`)
  const what = differenceOf(message, other)
  if (what !== undefined) return violation(`${what} of message ${place} differs`)
  if (message.isComplete && !other.isComplete) {
    return deviationOr(node, `Node does not end message ${place} (${endOf(node)})`)
  }
  if (!message.isComplete && other.isComplete && ours.end.is !== 'refused') {
    return violation(`our server waits for more of message ${place}`)
  }
  return bodiesAgree(message, other, ours) ? undefined : deviationOr(node, `body of message ${place} differs`)
}

const differenceOf = (message: Message, other: Message): string | undefined => {
  if (message.method !== other.method) return 'method'
  if (message.target !== other.target) return 'target'
  if (message.version !== other.version) return 'version'
  const isSame =
    message.fields.length === other.fields.length && message.fields.every((part, place) => part === other.fields[place])
  return isSame ? undefined : 'fields'
}

/** A refused body ends anywhere: how much of it was read before the fault was noticed does not matter. */
const bodiesAgree = (message: Message, other: Message, { end }: Reading): boolean =>
  message.isComplete || end.is !== 'refused'
    ? message.body === other.body
    : message.body.startsWith(other.body) || other.body.startsWith(message.body)

const compareEnds = (ours: Reading, node: Reading, bytes: string): Verdict => {
  const place = completeMessages(ours)
  const next = node.messages[place]
  const isAccepted = next !== undefined && (next.isComplete || node.end.is !== 'refused')
  switch (ours.end.is) {
    case 'refused':
      if (isAccepted) return compareRefusal(ours, ours.end.reason, node, bytes)
      return { is: node.end.is === 'refused' ? 'both-refuse' : 'we-refuse-first', reason: ours.end.reason }
    case 'upgraded':
      return node.end.is === 'upgraded' && node.end.rest === ours.end.rest
        ? { is: 'same' }
        : violation(`our server upgrades the connection (${endOf(node)})`)
    case 'closed':
      if (next === undefined && node.end.is !== 'upgraded') return { is: 'same' }
      return asksForClose(ours.messages.at(-1)) ? { is: 'we-close' } : violation('our server closes without a cause')
    case 'open':
      if (node.messages.length > ours.messages.length) return violation(`our server waits for more of message ${place}`)
      if (node.end.is === 'refused') return { is: 'node-refuses-first', reason: node.end.reason }
      return node.end.is === 'open' ? { is: 'same' } : deviationOr(node, `our server reads on (${endOf(node)})`)
  }
}

const deviationOr = (node: Reading, what: string): Verdict => {
  const deviation = findNodeDeviation(node)
  return deviation === undefined ? violation(what) : { is: 'node-deviates', deviation }
}

const compareRefusal = (ours: Reading, reason: string, node: Reading, bytes: string): Verdict => {
  const place = completeMessages(ours)
  const accepted = node.messages[place]
  const row = findRefusalRow(reason)
  if (accepted && row?.isIn(accepted, bytes, node.messages[place - 1])) return { is: 'we-refuse', reason }
  const what = `Node accepts what our server refuses as ${reason}`
  const isLast = place === node.messages.length - 1
  if (!isLast || node.end.is !== 'open') return violation(what)
  const verdict = deviationOr(node, what)
  // The fault is in the body, which Node has not read to its end.
  const isInBody = ours.messages.length > place && accepted?.isComplete === false
  return verdict.is === 'violation' && isInBody ? { is: 'we-refuse-first', reason } : verdict
}

const completeMessages = ({ messages }: Reading): number => messages.filter(({ isComplete }) => isComplete).length

const asksForClose = (message: Message | undefined): boolean =>
  message !== undefined && (message.version === '1.0' || membersOf(message, 'connection').includes('close'))

const endOf = ({ end }: Reading): string => (end.is === 'refused' ? `Node refuses: ${end.reason}` : `Node: ${end.is}`)

const violation = (what: string): Verdict => ({ is: 'violation', what })
