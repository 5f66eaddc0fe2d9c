import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { headerOf } from '../support/raw-answer.ts'
import { openConnection } from '../support/raw-client.ts'
import { startCountingUpstream } from '../support/recording-upstream.ts'
import { brokenOff, get, handshake, invalid } from './support/faulty-answers.ts'
import { follow } from './support/faulty-upstream.ts'
import { sampleOf, scrape, startGateway } from './support/running.ts'

t.test('what breaks off on one side breaks off on the other, on every way through the gateway', async t => {
  const upstream = await startCountingUpstream(t, follow)
  const left = await startCountingUpstream(t, follow)
  const gateway = await startGateway(t, { up: upstream.url, left: left.url })
  const workers = gateway.workerPids()
  const connect = () => openConnection(t, gateway.url)
  const failures = async (reason: string) => sampleOf(await scrape(gateway), 'sidegate_upstream_errors_total', reason)

  await t.test(
    'an answer that breaks off breaks off at the client, however that asks (RFC 9112 section 8; checklist I3)',
    async t => {
      for (const name of brokenOff) {
        const plain = await connect().send(get(name)).answer()
        const closing = await connect()
          .send(get(name, 'GET', 'Connection: close'))
          .answer()
        const old = connect().send(get(name).replace('1.1', '1.0'))
        await old.ended()

        t.notOk(plain.isComplete, name)
        t.notOk(closing.isComplete, `${name}, Connection: close`)
        // The connection ends an answer of unknown length to an HTTP/1.0 client: only a reset shows that it broke off.
        const answer = await old.answer()
        t.equal(headerOf(answer, 'content-length'), name === 'reset-in-body' ? '10' : undefined, `${name}, HTTP/1.0`)
        t.equal(name === 'reset-in-body' ? !answer.isComplete : old.state === 'reset', true, `${name}, HTTP/1.0`)
      }
    },
  )

  await t.test(
    'a pipelined answer that breaks off takes neither the one before it away nor leaves room for the next (RFC 9112 section 8; checklist I3)',
    async t => {
      for (const name of ['short', 'short-chunk', 'reset-in-body']) {
        const before = upstream.requests.length
        const connection = connect().send(get('held') + get(name) + get('ok'))
        await eventually(() => upstream.requests.length > before)
        await connect().send(get('release')).answer()

        t.equal((await connection.answer()).body.toString(), 'held', name)
        t.notOk((await connection.answer()).isComplete, name)
        t.not(await connection.ended(), 'open', name)
        t.equal(connection.received.length, 0, name)
        t.same(
          upstream.requests.slice(before).map(({ target }) => target.split('/').at(-1)),
          ['held', 'release', name],
          'the request behind it was not begun',
        )
      }
    },
  )

  await t.test('what a handshake for a WebSocket gets in its place is refused as well', async t => {
    for (const name of [...invalid, 'closes-at-once', 'reset']) {
      const connection = connect().send(get(name, 'GET', ...handshake))
      const refused = await connection.answer()

      t.equal(refused.status, 502, name)
      t.notMatch(refused.body.toString(), /hello|evil/, name)
      t.not(await connection.ended(), 'open', name)
    }
  })

  await t.test('an ordinary response to a handshake arrives as any other response', async t => {
    for (const [name, body] of [
      ['trailers', 'hello'],
      ['until-close', 'hello'],
      ['interim-answers', 'final'],
      ['ok', 'ok'],
    ] as const) {
      const connection = connect().send(get(name, 'GET', ...handshake))
      const answer = await connection.answer()

      t.match({ body: answer.body.toString(), isComplete: answer.isComplete }, { body, isComplete: true }, name)
      t.equal(await connection.ended(), 'closed', name)
    }
  })

  await t.test(
    'and where it breaks off it breaks off at the client, or is 504 (RFC 9112 section 8; checklist I3)',
    async t => {
      for (const name of brokenOff) {
        const answer = await connect()
          .send(get(name, 'GET', ...handshake))
          .answer()

        t.notOk(answer.isComplete, name)
      }
      t.equal(
        (
          await connect()
            .send(get('silent', 'GET', ...handshake))
            .answer()
        ).status,
        504,
      )
    },
  )

  await t.test(
    'a client that leaves, at whatever moment, takes its upstream request with it (checklist U13)',
    async t => {
      const moments = [
        ['before the answer', get('silent')],
        ['in the answer', get('begun')],
        ['in its own body', get('ok', 'POST', 'Content-Length: 10').concat('hello')],
        ['in a chunk', get('ok', 'POST', 'Transfer-Encoding: chunked').concat('5\r\nhel')],
        ['in a handshake', get('silent', 'GET', ...handshake)],
      ] as const
      for (const [moment, bytes] of moments) {
        for (const leave of ['reset', 'close', 'finish'] as const) {
          await eventually(() => left.openConnections() === 0)
          const connection = connect().send(bytes.replace('/up/', '/left/'))
          await eventually(() => left.openConnections() === 1)
          connection[leave]()

          await eventually(() => left.openConnections() === 0)
          await eventually(
            async () => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight', 'left') === 0,
          )
          t.equal((await connect().send(get('ok')).answer()).body.toString(), 'ok', `${leave} ${moment}`)
        }
      }
      await eventually(() => gateway.output.some(line => line.includes('"status":499')))
    },
  )

  t.ok((await failures('"client_gone"')) > 0)
  t.same(gateway.workerPids(), workers, 'no worker died')
})
