import t, { type Test } from 'tap'
import { sidegate } from '../cli/run.ts'
import { writeConfig } from '../config/support.ts'
import { clientSecret, fetchToken, sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { fetchFreshMetrics } from '../support/fresh-metrics.ts'
import { ask, openConnection } from '../support/raw-client.ts'
import { fieldOf, type Script, startCountingUpstream } from '../support/recording-upstream.ts'
import { startWebSocketUpstream } from '../support/websocket-upstream.ts'
import { parseExposition } from '../telemetry/support/exposition.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../telemetry/support/otlp-receiver.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

/** By the path: `reset` and `short` break off, `silent` says nothing, all else is 200. */
const script: Script = (socket, { target }) => {
  if (target.includes('/silent')) return
  if (target.includes('/reset')) socket.resetAndDestroy()
  else if (target.includes('/short')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello')
  else if (target.includes('/missing')) socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
}

const tracingTo = ({ url }: OtlpReceiver): NodeJS.ProcessEnv => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=collector-key',
  OTEL_EXPORTER_OTLP_TIMEOUT: '100',
  OTEL_BSP_SCHEDULE_DELAY: '20',
  OTEL_SERVICE_NAME: 'edge',
})

const request = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

t.test('traces of a gateway', async t => {
  const receiver = await startOtlpReceiver(t)
  const upstream = await startCountingUpstream(t, script)
  const sockets = await startWebSocketUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url, ws: sockets.url }, {}, tracingTo(receiver))
  const { url } = gateway
  const last = () => upstream.requests.at(-1)
  /** The spans of a trace, once there are so many. */
  const spansOf = async (traceId: string, count: number): Promise<readonly ReceivedSpan[]> => {
    const found = () => receiver.spans().filter(span => span.traceId === traceId)
    await eventually(() => found().length >= count)
    return found().toSorted((a, b) => a.kind - b.kind)
  }
  let traces = 0
  /** Sends a request in a trace of its own. @returns the trace's id */
  const send = async (line: string, ...fields: readonly string[]): Promise<string> => {
    traces += 1
    const traceId = `${trace.slice(0, -4)}${String(traces).padStart(4, '0')}`
    await ask(url, request(line, ...fields, `traceparent: 00-${traceId}-${parent}-01`), line.split(' ')[0])
    return traceId
  }

  await t.test('a request is a span, and its round trip one below it, whose id the upstream sees', async t => {
    const token = await fetchToken(url)
    const traceId = await send('GET /up-guarded/a/b?x=1', `Authorization: Bearer ${token}`, 'tracestate: a=1')
    const [server, client] = await spansOf(traceId, 2)

    t.match(server, {
      parentSpanId: parent,
      traceState: 'a=1',
      name: 'GET /up-guarded/**',
      kind: 2,
      statusCode: undefined,
    })
    t.same(server?.attributes, {
      'http.request.method': 'GET',
      'http.route': '/up-guarded/**',
      'http.response.status_code': 200,
      'url.path': '/up-guarded/a/b',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'client.address': '127.0.0.1',
      'sidegate.grouping': 'up-guarded',
      'sidegate.client_id': 'app',
      'sidegate.request_id': fieldOf(last(), 'x-request-id'),
    })
    t.match(client, { parentSpanId: server?.spanId, traceState: 'a=1', name: 'GET', kind: 3, statusCode: undefined })
    t.same(client?.attributes, {
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'sidegate.upstream': 'up',
    })
    t.equal(fieldOf(last(), 'traceparent'), `00-${traceId}-${client?.spanId}-01`)
    t.ok(
      (client?.startedAtNs ?? 0n) >= (server?.startedAtNs ?? 0n) &&
        (client?.endedAtNs ?? 0n) <= (server?.endedAtNs ?? 0n),
    )
    t.match(receiver.deliveries[0], { path: '/v1/traces', resource: { 'service.name': 'edge' } })
    t.equal(receiver.deliveries[0]?.headers['x-api-key'], 'collector-key')
  })

  await t.test('without a trace one begins, and is recorded', async t => {
    await ask(url, request('GET /up/a'))
    const [, traceId = '', , flags] = fieldOf(last(), 'traceparent')?.split('-') ?? []
    const [server] = await spansOf(traceId, 2)

    t.equal(flags, '01')
    t.equal(server?.parentSpanId, undefined)
  })

  await t.test('a trace that its sender does not record is not recorded here, and goes on', async t => {
    const unsampled = trace.replace('4bf9', 'ffff')
    await ask(url, request('GET /up/unsampled', `traceparent: 00-${unsampled}-${parent}-00`))
    await spansOf(await send('GET /up/a'), 2)

    t.match(
      fieldOf(upstream.requests.at(-2), 'traceparent'),
      new RegExp(`^00-${unsampled}-(?!${parent})[0-9a-f]{16}-00$`),
    )
    t.notOk(receiver.spans().some(span => span.traceId === unsampled))
  })

  await t.test('in OpenMetrics the durations name a recorded trace, and no other', async t => {
    const unsampled = trace.replace('4bf9', 'fffe')
    const traceId = await send('GET /up/a')
    await ask(url, request('GET /up/a', `traceparent: 00-${unsampled}-${parent}-00`))
    await spansOf(traceId, 2)

    const accept = 'application/openmetrics-text'
    const body = await (await fetchFreshMetrics(gateway.admin, { headers: { accept } })).text()
    const named = parseExposition(body).samples.filter(({ exemplar }) => exemplar?.labels.trace_id === traceId)

    t.match(named, [
      { name: 'sidegate_http_request_duration_seconds_bucket', labels: { operation: 'GET /up/**', code_class: '2xx' } },
    ])
    t.equal(named.length, 1)
    t.notMatch(body, unsampled)
    t.notMatch(await scrape(gateway), 'trace_id')
  })

  await t.test('what is served or refused here has no round trip', async t => {
    const cases = [
      ['GET /nowhere', 'GET', 404, 'unmatched', undefined],
      ['PATCH /up/a', 'PATCH /up/**', 405, 'up', undefined],
      ['GET /up-guarded/a', 'GET /up-guarded/**', 401, 'up-guarded', undefined],
      ['HEAD /up-guarded/a', 'HEAD /up-guarded/**', 401, 'up-guarded', undefined],
      ['PROPFIND /up/a', '_OTHER /up/**', 405, 'up', undefined],
    ] as const

    for (const [line, name, status, group, error] of cases) {
      const [span, ...others] = await spansOf(await send(line), 1)
      t.match(span, { kind: 2, name: name.startsWith('P') ? String : name, statusCode: undefined }, line)
      t.equal(span?.attributes['http.response.status_code'], status, line)
      t.equal(span?.attributes['sidegate.grouping'], group, line)
      t.equal(span?.attributes['error.type'], error, line)
      t.same(others, [])
    }
  })

  await t.test('both spans have the error, and a retry belongs to the same round trip', async t => {
    const cases = [
      ['GET /up/reset', { type: 'reset', status: 502 }, { type: 'reset', status: undefined }],
      ['GET /up/silent', { type: 'timeout', status: 504 }, { type: 'timeout', status: undefined }],
      ['GET /up/short', { type: 'reset_mid_body', status: 200 }, { type: 'reset_mid_body', status: 200 }],
      ['GET /up/missing', { type: undefined, status: 404 }, { type: '404', status: 404 }],
    ] as const

    for (const [line, server, client] of cases) {
      const spans = await spansOf(await send(line), 2)
      const found = spans.map(({ attributes, statusCode }) => ({
        type: attributes['error.type'],
        status: attributes['http.response.status_code'],
        isError: statusCode === 2,
      }))
      const expected = [server, client].map(({ type, status }) => ({ type, status, isError: type !== undefined }))
      t.same(found, expected, line)
      for (const seen of upstream.requests.filter(({ target }) => line.endsWith(target))) {
        t.match(fieldOf(seen, 'traceparent'), new RegExp(`-${spans[1]?.spanId}-01$`), line)
      }
    }
  })

  await t.test('the span shows that the client closed the connection', async t => {
    const before = upstream.requests.length
    const leaving = trace.replace('4bf9', 'eeee')
    const connection = openConnection(t, url)
    connection.send(request('GET /up/silent', `traceparent: 00-${leaving}-${parent}-01`))
    await eventually(() => upstream.requests.length > before)
    connection.reset()
    const spans = await spansOf(leaving, 2)

    t.same(
      spans.map(({ attributes }) => [attributes['error.type'], attributes['http.response.status_code']]),
      [
        ['client_gone', undefined],
        ['client_gone', undefined],
      ],
    )
  })

  await t.test('a WebSocket is a span for as long as it is open, its handshake the round trip', async t => {
    const open = trace.replace('4bf9', 'dddd')
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const connection = openConnection(t, url)
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    connection.send(request('GET /ws/echo', ...upgrade, key, `traceparent: 00-${open}-${parent}-01`))
    t.equal((await connection.answer()).status, 101)
    connection.reset()
    const [server, client] = await spansOf(open, 2)

    t.equal(server?.attributes['http.response.status_code'], 101)
    t.match(client, {
      attributes: { 'http.response.status_code': 101, 'sidegate.upstream': 'ws' },
      statusCode: undefined,
    })
    t.equal(sockets.handshakes[0]?.headers.traceparent, `00-${open}-${client?.spanId}-01`)
  })

  await t.test('no secret of a query, a header or a body is in a trace', async t => {
    const secrets = ['s3cret-query', 's3cret-cookie', 's3cret-bearer', 's3cret-body', 's3cret-referer', clientSecret]
    const all = [
      await send(
        `GET /up-query/a?client_id=app&client_secret=${clientSecret}&a=s3cret-query`,
        'Cookie: a=s3cret-cookie',
      ),
      await send('GET /up-guarded/a', 'Authorization: Bearer s3cret-bearer'),
      await send('GET /up/a?access_token=s3cret-query', 'Referer: http://a.test/?token=s3cret-referer'),
      await send('GET /nowhere?code=s3cret-query'),
      await send(`GET /metadata?client_id=app&client_secret=${clientSecret}`),
    ]
    for (const traceId of all) await spansOf(traceId, 1)
    const before = receiver.spans().length
    await fetch(`${url}/token`, { method: 'POST', body: new URLSearchParams({ client_secret: 's3cret-body' }) })
    await fetch(`${url}/up/a`, { method: 'POST', body: 's3cret-body' })
    await eventually(() => receiver.spans().length === before + 3)

    const told = receiver.deliveries.map(({ body }) => body).join('\n')
    for (const secret of secrets) t.notOk(told.includes(secret), secret)
    for (const secret of ['collector-key', ...secrets]) t.notOk(gateway.output.join('\n').includes(secret), secret)
  })

  await t.test('a collector that hangs, and then refuses, changes nothing for clients', async t => {
    const heard = (event: string) => gateway.output.filter(line => line.includes(`"event":"${event}"`)).length
    for (const [place, answer] of (['nothing', 503, 400] as const).entries()) {
      const before = receiver.deliveries.length
      receiver.answerWith(answer)
      for (let i = 0; i < 10; i++) t.equal((await ask(url, request('GET /up/a'))).status, 200)
      await eventually(() => heard('collector_down') === place + 1 && receiver.deliveries.length > before)
      receiver.answerWith(200)
      t.equal((await ask(url, request('GET /up/a'))).status, 200)
      await eventually(() => heard('collector_up') === place + 1)
    }
    const counted = async (outcome: string) =>
      sampleOf(await scrape(gateway), 'sidegate_trace_spans_total', `outcome="${outcome}"`)
    await eventually(async () => (await counted('refused')) > 0 && (await counted('exported')) > 0)
  })
})

t.test('at the end what waits is sent, and the end does not wait for a collector that hangs', async t => {
  const receiver = await startOtlpReceiver(t)
  const upstream = await startCountingUpstream(t, script)
  const start = () =>
    startGateway(
      t,
      { up: upstream.url },
      {},
      { ...tracingTo(receiver), OTEL_BSP_SCHEDULE_DELAY: '3600000', OTEL_EXPORTER_OTLP_TIMEOUT: '3600000' },
    )
  const [answered, hanging] = await Promise.all([start(), start()])
  for (const { url } of [answered, hanging]) await ask(url, request('GET /up/a'))

  answered.kill('SIGINT')
  t.equal(await answered.exited, 0)
  t.equal(receiver.spans().length, 2)
  receiver.answerWith('nothing')
  hanging.kill('SIGINT')
  t.equal(await hanging.exited, 0)
})

t.test('an invalid variable ends the start with one line', async t => {
  const outcome = await startWith(t, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })

  t.equal(outcome.code, 1)
  t.match(outcome.stderr, /^sidegate: .*OTEL_EXPORTER_OTLP_PROTOCOL must be http\/json;.*\n$/)
})

const startWith = (t: Test, env: NodeJS.ProcessEnv) =>
  sidegate(
    [
      'serve',
      '--config',
      writeConfig(t, { listen: '127.0.0.1:0', admin: '127.0.0.1:0', store: 'memory:', workers: 1 }),
    ],
    { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...env } },
  )
