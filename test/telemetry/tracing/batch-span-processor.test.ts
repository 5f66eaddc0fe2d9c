import t, { type Test } from 'tap'
import { Secret } from '../../../src/secret.ts'
import { createRecorder, type Recorder } from '../../../src/telemetry/recorder.ts'
import {
  type BatchSpanProcessor,
  createBatchSpanProcessor,
} from '../../../src/telemetry/tracing/batch-span-processor.ts'
import { createOtlpTransport } from '../../../src/telemetry/tracing/otlp-http-transport.ts'
import type { Span } from '../../../src/telemetry/tracing/span.ts'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'

const spanOf = (name: string, changes: Partial<Span> = {}): Span => ({
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentId: undefined,
  traceState: undefined,
  kind: 'server',
  name,
  startedAtMs: 1,
  endedAtMs: 3.25,
  attributes: {},
  isError: false,
  ...changes,
})

interface Setting {
  readonly exporter: BatchSpanProcessor
  readonly recorder: Recorder
  /** The reports in order. */
  readonly reports: readonly (string | undefined)[]
}

/** An hour between exports, so that a batch is sent only for the reason that the test is about. */
const open = (t: Test, endpoint: string, changes: object = {}): Setting => {
  const recorder = createRecorder()
  const reports: (string | undefined)[] = []
  const collector = createOtlpTransport({
    endpoint: new URL(endpoint),
    headers: { 'x-api-key': new Secret('k') },
    timeoutMs: 10_000,
    ...changes,
  })
  const exporter = createBatchSpanProcessor(
    {
      resource: { 'service.name': 'edge' },
      everyMs: 3_600_000,
      batchSize: 2,
      queueSize: 4,
      lastDeliveryMs: 3_000,
      ...changes,
    },
    collector,
    recorder,
    (isTaking, reason) => reports.push(isTaking ? 'takes' : reason),
  )
  t.teardown(collector.close)
  return { exporter, recorder, reports }
}

const openAt = (t: Test, { url }: OtlpReceiver, changes: object = {}): Setting => open(t, `${url}/v1/traces`, changes)

/** The outcomes in the order in which the exporter creates their cells. */
const outcomes = ['exported', 'dropped', 'refused']

/** The counts since the last call, by outcome. */
const countsOf = (recorder: Recorder): Readonly<Record<string, number>> =>
  Object.fromEntries((recorder.takeChanges()?.numbers ?? []).map(([id, count]) => [outcomes[id], count]))

const add = ({ exporter }: Setting, ...names: readonly string[]): void => {
  for (const name of names) exporter.add(spanOf(name))
}

t.test('a span arrives unchanged, with the name of the service and the configured headers', async t => {
  const receiver = await startOtlpReceiver(t)
  const { exporter, recorder } = openAt(t, receiver)
  const beforeNs = BigInt(Date.now()) * 1_000_000n
  const startedAtMs = performance.now()

  exporter.add(
    spanOf('GET /a', {
      parentId: '1111111111111111',
      traceState: 'a=1',
      kind: 'client',
      startedAtMs,
      endedAtMs: startedAtMs + 2.25,
      attributes: { 'http.route': '/a', 'http.response.status_code': 502, 'error.type': undefined },
      isError: true,
    }),
  )
  await exporter.close()

  const [delivery] = receiver.deliveries
  t.match(delivery, { path: '/v1/traces', resource: { 'service.name': 'edge' } })
  t.match(delivery?.headers, { 'content-type': 'application/json', 'x-api-key': 'k', 'user-agent': 'sidegate' })
  const [span] = receiver.spans()
  t.match(span, {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    parentSpanId: '1111111111111111',
    traceState: 'a=1',
    name: 'GET /a',
    kind: 3,
    statusCode: 2,
  })
  t.same(span?.attributes, { 'http.route': '/a', 'http.response.status_code': 502 })
  t.ok((span?.startedAtNs ?? 0n) >= beforeNs - 1_000_000_000n, 'by the system clock, which may be set in between')
  t.equal((span?.endedAtNs ?? 0n) - (span?.startedAtNs ?? 0n), 2_250_000n)
  t.same(countsOf(recorder), { exported: 1 })
})

t.test('a full batch is sent at once, and a smaller batch waits', async t => {
  const receiver = await startOtlpReceiver(t)
  const setting = openAt(t, receiver)

  add(setting, '1', '2', '3')
  await eventually(() => receiver.spans().length === 2)

  t.equal(receiver.deliveries.length, 1)
  await setting.exporter.close()
  t.same(
    receiver.deliveries.map(({ spans }) => spans.map(({ name }) => name)),
    [['1', '2'], ['3']],
  )
})

t.test('queued spans are sent at the next interval', async t => {
  const receiver = await startOtlpReceiver(t)
  const setting = openAt(t, receiver, { everyMs: 5 })

  add(setting, '1')
  await eventually(() => receiver.spans().length === 1)
  add(setting, '2')
  await eventually(() => receiver.spans().length === 2)
  await setting.exporter.close()
})

t.test('spans that exceed the queue are dropped and counted', async t => {
  const receiver = await startOtlpReceiver(t)
  receiver.answerWith('nothing')
  const setting = openAt(t, receiver)

  add(setting, '1', '2', '3', '4', '5', '6', '7')

  t.same(countsOf(setting.recorder), { dropped: 3 })
})

t.test('spans that the collector cannot take now are sent again, and the failure is reported once', async t => {
  const receiver = await startOtlpReceiver(t)
  const setting = openAt(t, receiver, { everyMs: 5 })

  for (const status of [429, 502, 503, 504]) {
    receiver.answerWith(status)
    const before = receiver.deliveries.length
    add(setting, String(status))
    await eventually(() => receiver.deliveries.length > before + 2)
    receiver.answerWith(200)
    await eventually(() => receiver.spans().at(-1)?.name === String(status))
  }

  await setting.exporter.close()
  t.same(
    setting.reports,
    [429, 502, 503, 504].flatMap(status => [`it answered ${status}`, 'takes']),
  )
  t.same(countsOf(setting.recorder), { exported: 4 })
})

t.test('spans that the collector rejects for good are not sent again', async t => {
  const receiver = await startOtlpReceiver(t)
  const setting = openAt(t, receiver, { everyMs: 5 })
  const statuses = [400, 401, 413, 307]
  for (const [place, status] of statuses.entries()) {
    receiver.answerWith(status)
    add(setting, '1', '2')
    await eventually(() => receiver.deliveries.length === place + 1)
    await eventually(() => countsOf(setting.recorder).refused === 2)
  }

  await setting.exporter.close()
  t.same(
    receiver.deliveries.map(({ spans }) => spans.length),
    statuses.map(() => 2),
  )
  t.same(setting.reports, ['it answered 400'])
})

t.test('an unreachable collector is reported with its error code', async t => {
  const setting = open(t, `http://127.0.0.1:${await findFreePort()}`)

  add(setting, '1', '2')
  await eventually(() => setting.reports.length === 1)
  await setting.exporter.close()

  t.same(setting.reports, ['ECONNREFUSED'])
  t.same(countsOf(setting.recorder), { dropped: 2 })
})

t.test('a request to a collector that hangs times out', async t => {
  const receiver = await startOtlpReceiver(t)
  receiver.answerWith('nothing')
  const setting = openAt(t, receiver, { timeoutMs: 50 })

  add(setting, '1', '2')
  await eventually(() => setting.reports.length === 1)

  t.same(setting.reports, ['it did not answer in time'])
  receiver.answerWith(200)
  await setting.exporter.close()
  t.equal(receiver.spans().length, 2, 'the batch is sent again')
})

t.test('close does not wait for a collector that hangs, and the spans that are left are counted', async t => {
  const receiver = await startOtlpReceiver(t)
  receiver.answerWith('nothing')
  const setting = openAt(t, receiver, { timeoutMs: 600_000, lastDeliveryMs: 20 })

  add(setting, '1', '2', '3')
  await setting.exporter.close()

  t.same(countsOf(setting.recorder), { dropped: 3 })
})
