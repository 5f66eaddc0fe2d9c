import type { Recorder } from '../recorder.ts'
import type { OtlpTransport } from './otlp-http-transport.ts'
import { type Resource, toOtlpJson } from './otlp-json.ts'
import type { Span } from './span.ts'

export interface BatchSpanProcessorOptions {
  readonly resource: Resource
  /** How often what has gathered is sent. Default 5_000. */
  readonly everyMs: number
  /** Most spans in one delivery; so many are sent at once. Default 512. */
  readonly batchSize: number
  /** Most spans that wait, those under way included; more are dropped and counted. Default 2048. */
  readonly queueSize: number
  /** Longest wait for the collector at the end: whoever stops the program waits for it. 3_000. */
  readonly lastDeliveryMs: number
}

/** Hands ended spans to a collector. Nothing of that is waited for but at the end. */
export interface BatchSpanProcessor {
  /** Takes a span, or drops it where too many wait. */
  add(span: Span): void
  /** Sends what waits, as far as there is time for it. */
  close(): Promise<void>
}

/** Told when the collector stops taking spans, with the reason, and when it takes them again. */
export type CollectorReport = (isTaking: boolean, reason: string | undefined) => void

/** One delivery at a time. What the collector cannot take now waits for the next turn, in the bounds of the queue. */
export const createBatchSpanProcessor = (
  { resource, everyMs, batchSize, queueSize, lastDeliveryMs }: BatchSpanProcessorOptions,
  collector: OtlpTransport,
  recorder: Recorder,
  report: CollectorReport,
): BatchSpanProcessor => {
  const waiting: Span[] = []
  const [exported, dropped, refused] = ['exported', 'dropped', 'refused'].map(outcome =>
    recorder.counter('traceSpans', [outcome]),
  )
  let sending: Promise<void> | undefined
  let isTaking = true

  const tell = (nowTaking: boolean, reason?: string): void => {
    if (nowTaking !== isTaking) report(nowTaking, reason)
    isTaking = nowTaking
  }
  /** @returns whether there is reason to send more */
  const sendBatch = async (): Promise<boolean> => {
    const batch = waiting.slice(0, batchSize)
    const delivery = await collector.post(toOtlpJson(batch, resource, Date.now() - performance.now()))
    if (delivery.kind === 'taken') tell(true)
    else tell(false, delivery.reason)
    if (delivery.kind === 'again') return false
    waiting.splice(0, batch.length)
    const counted = delivery.kind === 'taken' ? exported : refused
    counted?.add(batch.length)
    return true
  }
  /** What waits now, then as long as there is enough for one more. */
  const sendDown = async (enough: number): Promise<void> => {
    while (waiting.length > 0 && (await sendBatch()) && waiting.length >= enough);
  }
  const send = (enough: number): Promise<void> => {
    sending ??= sendDown(enough).finally(() => {
      sending = undefined
    })
    return sending
  }
  const timer = setInterval(() => void send(batchSize), everyMs).unref()
  return {
    add(span) {
      if (waiting.length >= queueSize) {
        dropped?.add()
        return
      }
      waiting.push(span)
      if (waiting.length >= batchSize && isTaking) void send(batchSize)
    },
    async close() {
      clearInterval(timer)
      const deadline = setTimeout(collector.close, lastDeliveryMs)
      await sending
      await send(1)
      clearTimeout(deadline)
      collector.close()
      if (waiting.length > 0) dropped?.add(waiting.length)
    },
  }
}
