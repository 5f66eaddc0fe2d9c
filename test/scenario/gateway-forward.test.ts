import t, { type Test } from 'tap'
import { clientSecret, fetchToken, startGateway } from '../gateway/support/running.ts'
import { headerOf, headersOf, type RawAnswer } from '../support/raw-answer.ts'
import { ask, openConnection } from '../support/raw-client.ts'
import { fieldOf, startStrictUpstream } from '../support/recording-upstream.ts'

const request = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

t.test('what goes upstream, and what comes back', async t => {
  const upstream = await startStrictUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url })
  const { url } = gateway
  const get = (target: string, ...fields: readonly string[]) => ask(url, request(`GET ${target}`, ...fields))
  const last = () => upstream.requests.at(-1)

  await t.test("a client's end-to-end fields arrive as they were sent", async t => {
    await get('/up/a?x=%41+b&&y', 'Accept: a/b', 'X-Own: caf\xe9', 'Cookie: a=1', 'cookie: b=2', 'User-Agent: u/1')

    t.equal(last()?.target, '/up/a?x=%41+b&&y')
    t.equal(fieldOf(last(), 'accept'), 'a/b')
    t.equal(fieldOf(last(), 'x-own'), 'caf\xe9')
    t.equal(fieldOf(last(), 'user-agent'), 'u/1')
    t.same(
      last()
        ?.fields.filter(([name]) => name.toLowerCase() === 'cookie')
        .map(([, value]) => value),
      ['a=1', 'b=2'],
    )
  })

  await t.test('the upstream gets the client, the user and the request id', async t => {
    const answer = await get('/up/a')

    t.equal(fieldOf(last(), 'x-sidegate-grouping'), 'up')
    t.equal(fieldOf(last(), 'x-sidegate-client-id'), undefined)
    t.equal(fieldOf(last(), 'x-forwarded-for'), '127.0.0.1')
    t.equal(fieldOf(last(), 'x-forwarded-proto'), 'http')
    t.equal(fieldOf(last(), 'x-forwarded-host'), 'gw.test')
    t.match(fieldOf(last(), 'x-request-id'), uuid)
    t.equal(headerOf(answer, 'x-request-id'), fieldOf(last(), 'x-request-id'))
    t.match(fieldOf(last(), 'traceparent'), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  })

  await t.test("a client's trace goes on with a span of the gateway's own (W3C Trace Context)", async t => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    await get('/up/a', `traceparent: 00-${trace}-00f067aa0ba902b7-01`, 'tracestate: a=1')

    t.match(fieldOf(last(), 'traceparent'), new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`))
    t.equal(fieldOf(last(), 'tracestate'), 'a=1')
  })

  await t.test('a trace that cannot be read begins anew, and what others say of it stays behind', async t => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const parent = `00-${trace}-00f067aa0ba902b7-01`
    const broken = [
      [],
      [`traceparent: 00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
      [`traceparent: ${parent.toUpperCase()}`],
      [`traceparent: ${parent}`, `traceparent: ${parent}`],
    ]
    for (const fields of broken) {
      await get('/up/a', ...fields, 'tracestate: a=1')

      t.match(fieldOf(last(), 'traceparent'), new RegExp(`^00-(?!${trace}|0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$`))
      t.equal(fieldOf(last(), 'tracestate'), undefined, fields.join())
    }
  })

  await t.test('of several tracestate lines one is made; a malformed one is left out', async t => {
    const parent = 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

    await get('/up/a', parent, 'tracestate: a=1,', 'Tracestate: b=2')
    t.equal(fieldOf(last(), 'tracestate'), 'a=1,b=2')
    await get('/up/a', parent, 'tracestate: a=1', 'tracestate: A=2')
    t.equal(fieldOf(last(), 'tracestate'), undefined)
  })

  await t.test('an id of a stranger reaches the upstream in no spelling', async t => {
    for (const line of ['X-Request-Id: mine', 'x-request-id: mine', 'X_Request_Id: mine', 'X.Request.Id: mine']) {
      const answer = await get('/up/a', line, line)

      t.match(fieldOf(last(), 'x-request-id'), uuid)
      t.match(headerOf(answer, 'x-request-id'), uuid)
      t.notOk(
        last()?.fields.some(([, value]) => value === 'mine'),
        line,
      )
    }
  })

  await t.test('what a stranger says about its address, scheme, host and id is not believed', async t => {
    const answer = await get(
      '/up/a',
      'X-Forwarded-For: 1.2.3.4',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: evil.test',
      'X-Request-Id: mine',
    )

    t.equal(fieldOf(last(), 'x-forwarded-for'), '127.0.0.1')
    t.equal(fieldOf(last(), 'x-forwarded-proto'), 'http')
    t.equal(fieldOf(last(), 'x-forwarded-host'), 'gw.test')
    t.match(headerOf(answer, 'x-request-id'), uuid)
  })

  await t.test('HEAD is answered by the GET operation, without a body', async t => {
    const connection = openConnection(t, url).send(request('HEAD /up/a'))
    const bare = await connection.answer('HEAD')
    const next = await connection.send(request('GET /up/b')).answer()

    t.equal(bare.status, 200)
    t.ok(Number(headerOf(bare, 'content-length')) > 0)
    t.equal(last()?.target, '/up/b')
    t.equal(upstream.requests.at(-2)?.method, 'HEAD')
    t.equal(next.status, 200)
  })

  await t.test('pipelined requests are answered in order', async t => {
    const connection = openConnection(t, url).send(['1', '2', '3'].map(n => request(`GET /up/${n}`)).join(''))

    for (const n of ['1', '2', '3']) {
      t.match(JSON.parse((await connection.answer()).body.toString()), { target: `/up/${n}` })
    }
  })

  await t.test('garbage behind a request is refused after its answer, and ends the connection', async t => {
    const connection = openConnection(t, url).send(`${request('GET /up/slow')}garbage\r\n\r\n`)
    const [first, second] = [await connection.answer(), await connection.answer()]

    t.equal(first.status, 200)
    t.same(JSON.parse(first.body.toString()), { target: '/up/slow', body: '' })
    isProblem(t, second, 400, 'BAD_REQUEST')
    t.equal(await connection.ended(), 'closed')
    t.equal(connection.received.length, 0)
  })

  await t.test('an unpublished path is 404, another method is 405 with Allow', async t => {
    const missing = await get('/nowhere')
    const wrong = await ask(url, request('PATCH /up/a'))

    isProblem(t, missing, 404, 'NOT_FOUND')
    isProblem(t, wrong, 405, 'METHOD_NOT_ALLOWED')
    t.same(headerOf(wrong, 'allow')?.split(', ').sort(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'])
  })

  await t.test('every response has a request id, of Sidegate and of the upstream', async t => {
    const requests = [
      'GET /up/a HTTP/1.1\r\n\r\n',
      'GARBAGE\r\n\r\n',
      request('GET /nowhere'),
      request('PATCH /up/a'),
      request('GET /token'),
      request('POST /token', 'Content-Length: 0'),
      request('GET /up-guarded/a'),
      request('GET /metadata'),
      request(`GET /metadata?client_id=app&client_secret=${clientSecret}`),
      request('GET /up/a', `X-Long: ${'x'.repeat(20_000)}`),
      request('CONNECT gw.test:1'),
      request('OPTIONS *'),
    ]
    for (const bytes of requests) t.match(headerOf(await ask(url, bytes), 'x-request-id'), uuid, bytes.slice(0, 40))
  })

  await t.test('a body beyond 64 KiB is 413 on an OAuth operation, however it is framed', async t => {
    const tooMuch = 65 * 1024
    const declared = request('POST /token', `Content-Length: ${tooMuch}`)
    const chunked = `${request('POST /token', 'Transfer-Encoding: chunked')}${tooMuch.toString(16)}\r\n${'a'.repeat(tooMuch)}\r\n`

    for (const bytes of [declared, declared + 'a'.repeat(tooMuch), chunked]) {
      const connection = openConnection(t, url).send(bytes)
      const refused = await connection.answer()

      t.equal(refused.status, 413)
      t.match(JSON.parse(refused.body.toString()), { error: 'invalid_request', error_description: String })
      t.not(await connection.ended(), 'open')
    }
  })

  await t.test('an early refusal comes without 100 Continue, and ends the connection that waits for it', async t => {
    const connection = openConnection(t, url)
    const fields = ['Expect: 100-continue', 'Content-Length: 5']
    const refused = await connection.send(request('POST /up-guarded/a', ...fields)).answer()

    t.equal(refused.status, 401)
    t.not(await connection.ended(), 'open', 'what comes next cannot be taken for the body')
  })

  await t.test('100 Continue comes before the body is sent', async t => {
    const token = await fetchToken(url)
    const connection = openConnection(t, url)
    connection.send(
      request('POST /up-guarded/a', `Authorization: Bearer ${token}`, 'Expect: 100-continue', 'Content-Length: 5'),
    )

    t.equal((await connection.answer()).status, 100)
    t.equal((await connection.send('hello').answer()).status, 200)
    t.equal(last()?.body, 'hello')
    t.equal(fieldOf(last(), 'expect'), undefined)
  })
})

const isProblem = (t: Test, answer: RawAnswer, status: number, code: string): void => {
  t.equal(answer.status, status)
  t.equal(headerOf(answer, 'content-type'), 'application/problem+json')
  t.equal(headersOf(answer, 'cache-control')[0], 'no-store')
  t.match(JSON.parse(answer.body.toString()), {
    type: String,
    title: String,
    status,
    detail: String,
    code,
    request_id: headerOf(answer, 'x-request-id'),
  })
}

t.test('a trusted proxy is believed, and the first address that is not trusted is the client', async t => {
  const upstream = await startStrictUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url }, { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] })
  const last = () => upstream.requests.at(-1)

  const answer = await ask(
    gateway.url,
    request(
      'GET /up/a',
      'X-Forwarded-For: 1.2.3.4, 203.0.113.9, 10.1.1.1',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: api.test',
      'X-Request-Id: from-outside:1',
    ),
  )

  t.equal(fieldOf(last(), 'x-forwarded-for'), '1.2.3.4, 203.0.113.9, 10.1.1.1, 127.0.0.1')
  t.equal(fieldOf(last(), 'x-forwarded-proto'), 'https')
  t.equal(fieldOf(last(), 'x-forwarded-host'), 'api.test')
  t.equal(fieldOf(last(), 'x-request-id'), 'from-outside:1')
  t.equal(headerOf(answer, 'x-request-id'), 'from-outside:1')
  await t.test('its id is passed on only where it is fit for a log', async t => {
    const unfit = ['with space', `x${'x'.repeat(128)}`, '"quoted"', 'a, b', '', 'caf\xe9', 'a\tb', '{"a":1}', 'a%0ab']
    for (const id of unfit) {
      await ask(gateway.url, request('GET /up/a', `X-Request-Id: ${id}`))
      t.match(fieldOf(last(), 'x-request-id'), uuid, id)
    }
    await ask(gateway.url, request('GET /up/a', 'X-Request-Id: a', 'X-Request-Id: b'))
    t.match(fieldOf(last(), 'x-request-id'), uuid, 'two of them')
    for (const id of ['a', 'x'.repeat(128), 'A9._:/+=-']) {
      await ask(gateway.url, request('GET /up/a', `X-Request-Id: ${id}`))
      t.equal(fieldOf(last(), 'x-request-id'), id)
    }
  })
})

t.test('with forwardedHeader: forwarded a trusted proxy’s Forwarded goes on, and a stranger’s does not', async t => {
  const upstream = await startStrictUpstream(t)
  const start = (trustedProxies: readonly string[]) =>
    startGateway(t, { up: upstream.url }, { forwardedHeader: 'forwarded', trustedProxies })
  const [believing, strict] = await Promise.all([start(['127.0.0.0/8']), start([])])
  const last = () => upstream.requests.at(-1)
  const lines = ['Forwarded: for=1.2.3.4;proto=https', 'X-Forwarded-For: 5.6.7.8']
  const own = 'for=127.0.0.1;proto=http;host=gw.test'

  await ask(believing.url, request('GET /up/a', ...lines))
  t.equal(fieldOf(last(), 'forwarded'), `for=1.2.3.4;proto=https, ${own}`)
  await ask(strict.url, request('GET /up/a', ...lines))
  t.equal(fieldOf(last(), 'forwarded'), own)
  for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']) {
    t.equal(fieldOf(last(), name), undefined, name)
  }
})

t.test(
  'the header fields that a grouping drops do not arrive, in any spelling, and no other grouping drops them',
  async t => {
    const upstream = await startStrictUpstream(t)
    const operations = [{ method: 'GET', path: '/**', credentials: 'none' }]
    const { url } = await startGateway(
      t,
      { up: upstream.url },
      {
        groupings: [
          { name: 'A', basePath: '/a', upstream: 'up', dropHeaders: ['X-Account', 'cookie', 'Referer'], operations },
          { name: 'B', basePath: '/b', upstream: 'up', operations },
        ],
      },
    )
    const lines = [
      'X-First: 1',
      'X-Account: 7',
      'x-aCCount: 8',
      'X.Account: 9',
      'Cookie: c=1',
      'Referer: http://r/',
      'X-Last: 1',
    ]
    const names = ['x-first', 'x-account', 'x.account', 'cookie', 'referer', 'x-last'] as const
    const arrived = async (path: string) => {
      t.equal((await ask(url, request(`GET ${path}`, ...lines))).status, 200)
      return names.filter(name => upstream.requests.at(-1)?.fields.some(([found]) => found.toLowerCase() === name))
    }

    t.same(await arrived('/a/x'), ['x-first', 'x-last'])
    t.same(await arrived('/b/x'), names)
  },
)

t.test('a base path that is stripped is not seen upstream', async t => {
  const upstream = await startStrictUpstream(t)
  const { url } = await startGateway(
    t,
    { up: upstream.url },
    {
      groupings: [
        {
          name: 'Stripped',
          basePath: '/api/v1',
          upstream: 'up',
          stripBasePath: true,
          operations: [{ method: 'GET', path: '/**', credentials: 'none' }],
        },
      ],
    },
  )
  const cases = [
    ['/api/v1/a/b?x=1', '/a/b?x=1'],
    ['/api/v1', '/'],
    ['/api/v1/', '/'],
    ['/api/v1?x=1', '/?x=1'],
    ['/%61pi/v1/api/v1/a', '/api/v1/a'],
  ] as const

  for (const [target, seen] of cases) {
    t.equal((await ask(url, request(`GET ${target}`))).status, 200)
    t.equal(upstream.requests.at(-1)?.target, seen, target)
  }
})

t.test('a header that comes too slowly is 408', async t => {
  const { url } = await startGateway(t, { up: 'http://127.0.0.1:9' })

  const connection = openConnection(t, url).send('GET /up/a HTTP/1.1\r\nHost: gw')

  isProblem(t, await connection.answer('GET', 15_000), 408, 'REQUEST_TIMEOUT')
})
