import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { headerOf } from '../support/raw-answer.ts'
import { openConnection } from '../support/raw-client.ts'
import { startCountingUpstream } from '../support/recording-upstream.ts'
import { get, invalid } from './support/faulty-answers.ts'
import { follow, nameOf } from './support/faulty-upstream.ts'
import { sampleOf, scrape, startGateway } from './support/running.ts'

t.test('faults of an upstream are distinguished, and affect no other request', async t => {
  const upstream = await startCountingUpstream(t, follow)
  const gateway = await startGateway(t, { up: upstream.url, gone: `http://127.0.0.1:${await findFreePort()}` })
  const { url } = gateway
  const workers = gateway.workerPids()
  const connect = () => openConnection(t, url)
  const failures = async (reason: string) => sampleOf(await scrape(gateway), 'sidegate_upstream_errors_total', reason)

  await t.test('a refused connection is 502, whatever the method (RFC 9110 section 15.6.3; checklist U01)', async t => {
    for (const method of ['GET', 'POST']) {
      const refused = await connect()
        .send(`${method} /gone/x HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 0\r\n\r\n`)
        .answer()

      t.equal(refused.status, 502)
      t.equal(headerOf(refused, 'content-type'), 'application/problem+json')
      t.match(JSON.parse(refused.body.toString()), {
        status: 502,
        code: 'UPSTREAM_UNREACHABLE',
        request_id: headerOf(refused, 'x-request-id'),
      })
    }
  })

  await t.test(
    'an upstream that never answers is 504, and its connection is closed (RFC 9110 section 15.6.5; checklist U02)',
    async t => {
      const late = await connect().send(get('silent')).answer()

      t.equal(late.status, 504)
      t.match(JSON.parse(late.body.toString()), { code: 'UPSTREAM_TIMEOUT' })
      await eventually(() => upstream.openConnections() === 0)
    },
  )

  await t.test(
    'a reset before the answer is tried again for a GET, once, and never for a POST (RFC 9110 section 9.2.2; checklist U03)',
    async t => {
      const count = () => upstream.requests.filter(request => nameOf(request) === 'reset').length

      t.equal((await connect().send(get('reset')).answer()).status, 502)
      t.equal(count(), 2)
      const post = await connect()
        .send('POST /up/reset HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 1\r\n\r\na')
        .answer()
      t.equal(post.status, 502)
      t.equal(count(), 3)
      const put = await connect().send('PUT /up/reset HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 1\r\n\r\na').answer()
      t.equal(put.status, 502)
      t.equal(count(), 4, 'the body of a PUT has been sent, and is not there any more')
    },
  )

  await t.test(
    'so is one on a connection that served before, over a fresh one (RFC 9110 section 9.2.2; checklist U03)',
    async t => {
      const seen = () => upstream.requests.filter(request => nameOf(request) === 'reset-when-reused')
      for (const nth of [1, 2]) {
        t.equal((await connect().send(get('reset-when-reused')).answer()).body.toString(), 'first', `${nth}`)
      }
      const [first, second, third] = seen().map(request => request.connection)

      t.equal(first, second)
      t.ok(Number(third) > Number(second), 'a fresh connection')
      const post = await connect().send(get('reset-when-reused', 'POST')).answer()
      t.equal(post.status, 502)
      t.equal(seen().length, 4)
    },
  )

  await t.test('a body that stops short stops short at the client (RFC 9112 section 8; checklist U04)', async t => {
    const connection = connect().send(get('short'))
    const broken = await connection.answer()

    t.equal(headerOf(broken, 'content-length'), '100000')
    t.equal(broken.body.length, 40_010)
    t.notOk(broken.isComplete)
    t.not(connection.state, 'open')
    await eventually(async () => (await failures('reset_mid_body')) >= 1)
  })

  await t.test('a body that ends with the connection arrives whole (RFC 9112 section 6.3; checklist U07)', async t => {
    const whole = await connect().send(get('until-close')).answer()

    t.match({ body: whole.body.toString(), isComplete: whole.isComplete }, { body: 'hello', isComplete: true })
  })

  await t.test('what is not HTTP, or could be framed in two ways, is 502', async t => {
    for (const name of invalid) {
      for (const method of ['GET', 'POST', 'HEAD']) {
        const refused = await connect().send(get(name, method)).answer(method)

        t.equal(refused.status, 502, `${method} ${name}`)
        t.notMatch(refused.body.toString(), /hello|evil/, name)
        if (method !== 'HEAD') t.match(refused.body.toString(), /"code":"UPSTREAM_RESPONSE_INVALID"/, name)
      }
    }
  })

  await t.test('an upstream that ends before its answer has begun is 502, whatever the method', async t => {
    for (const name of ['closes-at-once', 'header-cut-off']) {
      for (const method of ['GET', 'POST']) {
        const refused = await connect().send(get(name, method)).answer()

        t.equal(refused.status, 502, `${method} ${name}`)
        t.match(refused.body.toString(), /"code":"UPSTREAM_UNREACHABLE"/, name)
      }
    }
  })

  await t.test('bytes after a response reach no other client (RFC 9112 section 11.2; checklist I2)', async t => {
    for (const name of ['two-answers', 'bytes-behind']) {
      const connection = connect().send(get(name))
      t.equal((await connection.answer()).body.toString(), 'first', name)

      for (const _ of [1, 2, 3]) t.equal((await connection.send(get('ok')).answer()).body.toString(), 'ok', name)
      t.equal(connection.received.length, 0, name)
    }
  })

  await t.test('trailers of an answer end here, and bytes that come one by one are one answer', async t => {
    for (const name of ['trailers', 'drip']) {
      const connection = connect().send(get(name))

      t.equal((await connection.answer()).body.toString(), 'hello', name)
      t.equal((await connection.send(get('ok')).answer()).body.toString(), 'ok', name)
    }
  })

  await t.test('a status at the end of its range passes', async t => {
    t.equal((await connect().send(get('status-599')).answer()).status, 599)
  })

  await t.test(
    'answers without a body are framed so, and the connection goes on (RFC 9112 section 6.3; checklist U08)',
    async t => {
      const cases = [
        ['no-content-with-body', 'GET', 204],
        ['not-modified-with-length', 'GET', 304],
        ['body-for-head', 'HEAD', 200],
      ] as const
      for (const [name, method, status] of cases) {
        const connection = connect().send(get(name, method))
        const bare = await connection.answer(method)
        const next = await connection.send(get('ok')).answer()

        t.equal(bare.status, status, name)
        t.equal(next.body.toString(), 'ok', name)
      }
    },
  )

  await t.test('interim responses are not forwarded', async t => {
    for (const name of ['interim-answers', 'torn-continue']) {
      const final = await connect().send(get(name)).answer()

      t.match({ status: final.status, body: final.body.toString() }, { status: 200, body: 'final' }, name)
    }
    const whole = await connect().send(get('continue-in-body')).answer()
    t.equal(whole.body.toString(), 'HTTP/1.1 100 Continue\r\n\r\nbody')
  })

  await t.test('fields with odd names and several of one name pass', async t => {
    const odd = await connect().send(get('odd-names')).answer()
    const cookies = await connect().send(get('set-cookies')).answer()

    t.equal(headerOf(odd, 'constructor'), 'a')
    t.equal(headerOf(odd, '__proto__'), 'b')
    t.same(
      cookies.fields.filter(([name]) => name === 'set-cookie').map(([, value]) => value),
      ['a=1', 'b=2'],
    )
  })

  await t.test("hop-by-hop fields and the upstream's own request id end at the gateway", async t => {
    const { fields } = await connect().send(get('hop-by-hop')).answer()
    const names = fields.map(([name]) => name)

    t.ok(names.includes('x-kept'))
    for (const name of ['x-own', 'proxy-authenticate']) t.notOk(names.includes(name), name)
    t.notMatch(JSON.stringify(fields), /evil|timeout=1"/)
  })

  await t.test('every failure is counted by its reason, and no worker died', async t => {
    for (const reason of ['connect', 'timeout', 'reset', 'reset_mid_body', 'invalid']) {
      t.ok((await failures(`"${reason}"`)) > 0, reason)
    }
    t.same(gateway.workerPids(), workers)
  })
})
