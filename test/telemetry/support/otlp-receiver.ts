import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A trace collector that reads OTLP/HTTP with JSON. */
export interface OtlpReceiver {
  /** Its origin. */
  readonly url: string
  readonly deliveries: readonly Delivery[]
  /** The spans of all deliveries that the collector has accepted. */
  spans(): readonly ReceivedSpan[]
  /** Sets the status of the next answers; with 'nothing' the collector does not answer. */
  answerWith(status: number | 'nothing'): void
}

export interface Delivery {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly resource: Attributes
  readonly spans: readonly ReceivedSpan[]
  readonly body: string
}

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  readonly name: string
  /** The number in the protocol: 2 for a server span, 3 for a client span. */
  readonly kind: number
  readonly startedAtNs: bigint
  readonly endedAtNs: bigint
  readonly attributes: Attributes
  /** 2 means an error. */
  readonly statusCode: number | undefined
}

export type Attributes = Readonly<Record<string, string | number>>

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const startOtlpReceiver = async (t: Teardown): Promise<OtlpReceiver> => {
  const deliveries: Delivery[] = []
  const taken: ReceivedSpan[] = []
  let answer: number | 'nothing' = 200
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const { resource, spans } = parseRequest(body)
      deliveries.push({ path: req.url ?? '', headers: req.headers, resource, spans, body })
      if (answer === 'nothing') return
      if (answer === 200) taken.push(...spans)
      res.writeHead(answer, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliveries,
    spans: () => taken,
    answerWith(next) {
      answer = next
    },
  }
}

/** `ExportTraceServiceRequest` of opentelemetry/proto/collector/trace/v1, the fields that the tests use. */
interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] }
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly WireSpan[] }[]
  }[]
}

interface WireAttribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

interface WireSpan extends Omit<ReceivedSpan, 'attributes' | 'startedAtNs' | 'endedAtNs' | 'statusCode'> {
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly WireAttribute[]
  readonly status?: { readonly code: number }
}

const parseRequest = (body: string): Pick<Delivery, 'resource' | 'spans'> => {
  const [first, ...others] = (JSON.parse(body) as WireRequest).resourceSpans
  if (!first || others.length > 0) throw new Error('one resource was expected')
  return {
    resource: toAttributes(first.resource.attributes),
    spans: first.scopeSpans.flatMap(({ spans }) => spans).map(toSpan),
  }
}

const toSpan = ({ startTimeUnixNano, endTimeUnixNano, attributes, status, ...span }: WireSpan): ReceivedSpan => ({
  ...span,
  startedAtNs: BigInt(startTimeUnixNano),
  endedAtNs: BigInt(endTimeUnixNano),
  attributes: toAttributes(attributes),
  statusCode: status?.code,
})

const toAttributes = (attributes: readonly WireAttribute[]): Attributes =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? Number.NaN)]),
  )
