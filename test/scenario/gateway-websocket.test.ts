import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'undici'
import { client, fetchToken, oauth, sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { headerOf, headersOf } from '../support/raw-answer.ts'
import { openConnection } from '../support/raw-client.ts'
import { startWebSocketUpstream } from '../support/websocket-upstream.ts'

const handshake = (target: string, ...fields: readonly string[]): string =>
  [
    `GET ${target} HTTP/1.1`,
    'Host: gw.test',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...fields,
    '',
    '',
  ].join('\r\n')

t.test('a WebSocket passes through the gateway', async t => {
  const upstream = await startWebSocketUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url, gone: `http://127.0.0.1:${await findFreePort()}` })
  const { url } = gateway
  const workers = gateway.workerPids()
  const token = await fetchToken(url)
  const bearer = `Authorization: Bearer ${token}`
  const connect = (t: Test) => openConnection(t, url)
  const statusLogged = (path: string, status: number) =>
    eventually(() => gateway.output.some(line => line.includes(`"path":"${path}","status":${status}`)))

  await t.test('messages go both ways', async t => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/up-guarded/echo`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await once(socket, 'open')
    const echoed: unknown[] = []
    socket.addEventListener('message', event => echoed.push(event.data))

    for (const text of ['one', 'two', 'three']) socket.send(text)
    await eventually(() => echoed.length === 3)
    t.same(echoed, ['one', 'two', 'three'])

    socket.close()
    await eventually(() => upstream.open().length === 0)
    await statusLogged('/up-guarded/echo', 101)
  })

  await t.test('the upstream gets the identity and not the token', async t => {
    const before = upstream.handshakes.length
    const answer = await connect(t)
      .send(handshake('/up-guarded/echo?x=1', bearer, 'X-Sidegate-Subject: evil', 'X-Forwarded-For: evil'))
      .answer()
    const { url: target, headers } = upstream.handshakes[before] ?? {}

    t.equal(answer.status, 101)
    t.equal(headerOf(answer, 'sec-websocket-accept'), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=', 'RFC 6455 section 1.3')
    t.equal(headerOf(answer, 'x-request-id'), headers?.['x-request-id'])
    t.match(headerOf(answer, 'ratelimit'), /^"default-plan";r=\d+;t=1$/)
    t.equal(target, '/up-guarded/echo?x=1')
    t.match(headers, { 'x-sidegate-client-id': 'app', 'x-sidegate-subject': 'app', 'x-forwarded-for': '127.0.0.1' })
    t.notMatch(JSON.stringify(headers), /evil|authorization/i)
  })

  await t.test('a handshake without a good token is 401, beyond the scope 403', async t => {
    const before = upstream.handshakes.length
    const narrow = `Authorization: Bearer ${await fetchToken(url, { scope: 'write' })}`

    for (const [fields, status] of [
      [[], 401],
      [['Authorization: Bearer nothing'], 401],
      [[narrow], 403],
    ] as const) {
      const connection = connect(t).send(handshake('/up-guarded/echo', ...fields))
      const refused = await connection.answer()
      t.equal(refused.status, status)
      t.ok(headerOf(refused, 'x-request-id'))
      t.match(headersOf(refused, 'www-authenticate')[0], /^Bearer /)
      t.equal(await connection.ended(), 'closed')
    }
    t.equal(upstream.handshakes.length, before)
  })

  await t.test('an upstream that is not there is 502, one that never answers 504', async t => {
    const gone = await connect(t).send(handshake('/gone/echo')).answer()
    const silent = await connect(t).send(handshake('/up/silent')).answer()

    t.match(JSON.parse(gone.body.toString()), { status: 502, code: 'UPSTREAM_UNREACHABLE' })
    t.match(JSON.parse(silent.body.toString()), { status: 504, code: 'UPSTREAM_TIMEOUT' })
    await statusLogged('/gone/echo', 502)
    await statusLogged('/up/silent', 504)
  })

  await t.test("the upstream's refusal of a handshake reaches the client, and the log", async t => {
    const connection = connect(t).send(handshake('/up-guarded/refused', bearer))
    const refused = await connection.answer()

    t.equal(refused.status, 403)
    t.equal(refused.body.toString(), 'not so')
    t.match(headerOf(refused, 'x-request-id'), /^[0-9a-f-]{36}$/)
    t.match(
      headersOf(refused, 'ratelimit').join(', '),
      /^"inner";r=0;t=9, "default-plan";/,
      "beside the upstream's own",
    )
    t.equal(await connection.ended(), 'closed')
    await statusLogged('/up-guarded/refused', 403)
  })

  await t.test('a handshake with a body is refused: its bytes would be taken for something else', async t => {
    const before = upstream.handshakes.length

    for (const field of ['Content-Length: 5', 'Transfer-Encoding: chunked']) {
      t.equal(
        (
          await connect(t)
            .send(`${handshake('/up/echo', field)}hello`)
            .answer()
        ).status,
        400,
        field,
      )
    }
    t.equal(upstream.handshakes.length, before)
  })

  await t.test('a POST that asks for an upgrade is a plain request', async t => {
    const post = handshake('/up/echo', 'Content-Length: 5').replace('GET', 'POST')

    const answer = await connect(t).send(`${post}hello`).answer()

    t.equal(answer.status, 200)
    t.equal(answer.body.toString(), 'not a WebSocket')
  })

  await t.test('a client that leaves before the answer takes the handshake with it', async t => {
    await eventually(() => upstream.open().length === 0)
    const connection = connect(t).send(handshake('/up/silent'))
    await eventually(() => upstream.open().length === 1)
    connection.reset()

    await eventually(() => upstream.open().length === 0, 500)
    await statusLogged('/up/silent', 499)
  })

  await t.test('so does one that only says that it has ended', async t => {
    const connection = connect(t).send(handshake('/up/silent'))
    await eventually(() => upstream.open().length === 1)
    connection.finish()

    await eventually(() => upstream.open().length === 0, 500)
  })

  await t.test('a reset on either side ends the other side, and nothing else', async t => {
    const left = connect(t).send(handshake('/up/echo'))
    await left.answer()
    left.reset()
    await eventually(() => upstream.open().length === 0)
    const stays = connect(t).send(handshake('/up/echo'))
    await stays.answer()
    for (const socket of upstream.open()) socket.destroy(new Error('reset'))
    t.not(await stays.ended(), 'open')

    await eventually(async () => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight') === 0)
    t.same(gateway.workerPids(), workers)
  })
})

t.test('a handshake beyond the plan is 429', async t => {
  const upstream = await startWebSocketUpstream(t)
  const { url } = await startGateway(
    t,
    { up: upstream.url },
    {
      plans: { small: { rate: '1/1minute' } },
      groupings: [
        { ...oauth, operations: [{ method: 'POST', path: '/token', serves: 'token' }] },
        { name: 'Sockets', basePath: '/sockets', upstream: 'up', operations: [{ method: 'GET', path: '/**' }] },
      ],
      clients: [client('app', { plan: 'small' })],
    },
  )
  const bearer = `Authorization: Bearer ${await fetchToken(url)}`

  t.equal((await openConnection(t, url).send(handshake('/sockets/a', bearer)).answer()).status, 101)
  const refused = await openConnection(t, url).send(handshake('/sockets/a', bearer)).answer()

  t.equal(refused.status, 429)
  t.ok(Number(headerOf(refused, 'retry-after')) > 0)
  t.equal(headerOf(refused, 'ratelimit-policy'), '"small";q=1;w=60')
})
