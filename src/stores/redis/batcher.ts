import { Cluster } from 'ioredis'
import type { RedisConnection } from './connection.ts'

/** Questions of one kind: those that are asked in one go are one call to Redis, and many cost little more than one. */
export interface BatchOptions<Question, Reply, Answer> {
  /** Runs the function when the last question of a batch has been asked: `queueMicrotask`, or `setImmediate` for a turn. */
  readonly schedule: (send: () => void) => unknown
  /** The largest batch. Redis serves nobody else while it answers one. */
  readonly maxBatchSize: number
  /** The key, with its prefix, that says which slot of a Redis Cluster the question is for. */
  keyOf(question: Question): string
  call(questions: readonly Question[]): Promise<Reply>
  /** What the reply says about the question at this index of the batch. */
  answerAt(reply: Reply, index: number): Answer
  /** What each of a batch that failed rejects with. Default: what `call` rejected with. */
  toError?(reason: unknown): unknown
}

/** A question that waits for its batch, or for the reply. */
interface Pending<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Puts questions together. A Redis Cluster runs a script on the keys of one slot, so there the questions about one key are
 * one call; any other Redis is asked about all of them at once.
 */
export const createBatcher = <Question, Reply, Answer>(
  connection: RedisConnection,
  { schedule, maxBatchSize, keyOf, call, answerAt, toError = reason => reason }: BatchOptions<Question, Reply, Answer>,
): ((question: Question) => Promise<Answer>) => {
  type Batch = readonly Pending<Question, Answer>[]
  let hasSlots = connection instanceof Cluster
  let waiting: Pending<Question, Answer>[] = []

  const sendAll = (): void => {
    const batch = waiting
    waiting = []
    if (hasSlots) sendByKey(batch)
    else sendTogether(batch, sendByKey)
  }
  const sendByKey = (batch: Batch): void => {
    for (const ofOneKey of Map.groupBy(batch, ({ question }) => keyOf(question)).values()) sendTogether(ofOneKey)
  }
  /** @param resend sends a call by its keys that Redis refused because they are of several slots */
  const sendTogether = (batch: Batch, resend?: (batch: Batch) => void): void => {
    for (let from = 0; from < batch.length; from += maxBatchSize) send(batch.slice(from, from + maxBatchSize), resend)
  }
  const send = (batch: Batch, resend?: (batch: Batch) => void): void => {
    call(batch.map(({ question }) => question)).then(
      reply => resolveAll(batch, reply),
      reason => {
        hasSlots ||= isCrossSlot(reason)
        if (resend !== undefined && isCrossSlot(reason)) resend(batch)
        else rejectAll(batch, toError(reason))
      },
    )
  }
  const resolveAll = (batch: Batch, reply: Reply): void => {
    for (const [index, { resolve, reject }] of batch.entries()) {
      try {
        resolve(answerAt(reply, index))
      } catch (error) {
        reject(error)
      }
    }
  }
  const rejectAll = (batch: Batch, error: unknown): void => {
    for (const { reject } of batch) reject(error)
  }
  return question =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) schedule(sendAll)
      waiting.push({ question, resolve, reject })
    })
}

/**
 * Some servers are clusters behind one address. They refuse a call before its script runs, so that it can be sent again:
 * from then on they are asked as a Redis Cluster is.
 */
const isCrossSlot = (reason: unknown): boolean => reason instanceof Error && reason.message.includes('CROSSSLOT')
