import { Cluster } from 'ioredis'
import type { RedisConnection } from './connection.ts'

/** Questions of one kind that are asked together are one call to Redis, because many cost little more than one. */
export interface BatchOptions<Question, Reply, Answer> {
  /**
   * Schedules the sending of a batch after its last question: `queueMicrotask`, or `setImmediate` for a turn of the
   * event loop.
   */
  readonly schedule: (send: () => void) => unknown
  /** The largest batch. Redis serves no other client while it executes one. */
  readonly maxBatchSize: number
  /** The key, with its prefix, that determines the slot of the question in a Redis Cluster. */
  keyOf(question: Question): string
  call(questions: readonly Question[]): Promise<Reply>
  /** The answer to the question at this index of the batch. */
  answerAt(reply: Reply, index: number): Answer
  /** The error that each question of a failed batch rejects with. Default: the one that `call` rejected with. */
  toError?(reason: unknown): unknown
}

/** A question that waits for its batch or for the reply. */
interface Pending<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Puts questions into batches. A Redis Cluster runs a script only on keys of one slot, so there the questions about one
 * key are one call. Any other Redis gets all of them in one call.
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
  /**
   * @param resend splits a call by its keys and sends it again, if Redis refused it because the keys are in several
   * slots
   */
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
 * Some servers are clusters behind one address. They refuse such a call before its script runs, so it can be sent
 * again. From then on questions are batched as for a Redis Cluster.
 */
const isCrossSlot = (reason: unknown): boolean => reason instanceof Error && reason.message.includes('CROSSSLOT')
