import type { Recorder } from '../recorder.ts'
import type { OtlpTransport } from './otlp-http-transport.ts'
import { type Resource, toOtlpJson } from './otlp-json.ts'
import type { Span } from './span.ts'

export interface BatchSpanProcessorOptions {
  readonly resource: Resource
  /** How often the queued spans are sent. Default 5_000. */
  readonly everyMs: number
  /** Maximum number of spans in one delivery; a full batch is sent at once. Default 512. */
  readonly batchSize: number
  /** Maximum number of queued spans, those being sent included. More are dropped and counted. Default 2048. */
  readonly queueSize: number
  /** Maximum wait for the collector when Sidegate stops, because this delays its exit. 3_000. */
  readonly lastDeliveryMs: number
}

/** Sends ended spans to a collector. Only `close` waits for it. */
export interface BatchSpanProcessor {
  /** Queues a span, or drops it if the queue is full. */
  add(span: Span): void
  /** Sends the queued spans, as far as there is time for it. */
  close(): Promise<void>
}

/** Called when the collector stops accepting spans, with the reason, and when it accepts them again. */
export type CollectorReport = (isTaking: boolean, reason: string | undefined) => void

/**
 * Sends one delivery at a time. If the collector cannot accept it now, its spans go back to the queue, within the limit
 * of the queue.
 */
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
  /** @returns whether another delivery should follow */
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
  /** Sends the spans that are queued now, and continues while there are enough for another full batch. */
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
