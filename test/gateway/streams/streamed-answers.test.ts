import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { openConnection } from '../../support/raw-client.ts'
import { startGateway } from '../support/running.ts'
import { startHeldUpstream } from './support/held-upstream.ts'

const get = (name: string): string => `GET /${name}/events HTTP/1.1\r\nHost: gw.test\r\n\r\n`

const eventStream = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'

t.test('what upstreams stream', async t => {
  const { ca, server } = createCertificates(t)
  const plain = await startHeldUpstream(t)
  const secure = await startHeldUpstream(t, server)
  const { url } = await startGateway(
    t,
    { plain: plain.url, secure: secure.url, brief: plain.url },
    {
      tls: { cert_file: server.certFile, key_file: server.keyFile },
      upstreams: {
        plain: { targets: [plain.url] },
        secure: { targets: [secure.url], tls: { ca_file: ca.certFile } },
        brief: { targets: [plain.url], bodyTimeout: '500ms', totalTimeout: '50ms' },
      },
    },
  )
  const connect = () => openConnection(t, url, { ca: ca.cert, servername: 'localhost' })

  await t.test(
    'each byte of a field arrives as it was sent, whether the body comes with the header or later',
    async t => {
      const head =
        'HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename="caf\xc3\xa9"\r\nContent-Length: 1\r\n\r\n'
      for (const isLate of [false, true]) {
        const connection = connect().send(get('plain'))
        const socket = await plain.next()
        socket.write(isLate ? head : `${head}x`, 'latin1')
        if (isLate) {
          await eventually(() => connection.received.includes('\r\n\r\n'))
          socket.write('x')
        }

        await eventually(() => connection.received.toString('latin1').endsWith('x'))
        t.match(connection.received.toString('latin1'), /filename="caf\xc3\xa9"\r\n/, isLate ? 'later' : 'with it')
      }
    },
  )

  await t.test('each byte arrives before the next is sent, the header before the first', async t => {
    for (const [name, upstream] of Object.entries({ plain, secure })) {
      const connection = connect().send(get(name))
      const socket = await upstream.next()

      socket.write(`${eventStream}Transfer-Encoding: chunked\r\n\r\n`)
      await eventually(() => connection.received.includes('\r\n\r\n'))
      for (const byte of 'data: 1\n\n') {
        const before = connection.received.length
        socket.write(`1\r\n${byte}\r\n`)
        await eventually(() => connection.received.length > before)
      }
      socket.write('0\r\n\r\n')

      const answer = await connection.answer()
      t.equal(answer.body.toString(), 'data: 1\n\n', name)
      t.ok(answer.isComplete, name)
    }
  })

  await t.test('an answer that ends before the request, and the connection with it, arrives whole', async t => {
    const body = Buffer.alloc(8 * 1024 * 1024)
    for (const [status, rest, said] of [
      ['413 A', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', 'hello'],
      ['413 A', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', ''],
      ['413 A', '\r\nhello', 'hello'],
      ['413 A', 'Content-Length: 5\r\n\r\nhello', 'hello'],
      ['413 A', 'Content-Length: 0\r\n\r\n', ''],
      ['204 A', '\r\n', ''],
    ] as const) {
      const framing = `Connection: close\r\nContent-Length: ${body.length}`
      const connection = connect().send(`POST /plain/x HTTP/1.1\r\nHost: gw.test\r\n${framing}\r\n\r\n`)
      const socket = await plain.next()

      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${rest}`)
      const answer = await connection.answer()
      connection.send(body)

      t.match({ body: answer.body.toString(), isComplete: answer.isComplete }, { body: said, isComplete: true }, rest)
      t.equal(await connection.ended(), 'closed', rest)
      await eventually(() => connection.unsentBytes === 0)
    }
  })

  await t.test('a stream without a length ends with its connection, and every byte of it has come', async t => {
    const connection = connect().send(get('plain'))
    const socket = await plain.next()

    socket.write(`${eventStream}\r\ndata: `)
    await eventually(() => connection.received.includes('data: '))
    socket.end('last\n\n')

    t.equal((await connection.answer()).body.toString(), 'data: last\n\n')
  })

  await t.test(
    'an event stream ends when nothing more comes, however long it was, and shows that it broke off',
    async t => {
      const connection = connect().send(get('brief'))
      const socket = await plain.next()

      socket.write(`${eventStream}Transfer-Encoding: chunked\r\n\r\n`)
      for (let sent = 0; sent < 60; sent++) {
        const before = connection.received.length
        socket.write('1\r\n:\r\n')
        await eventually(() => connection.received.length > before)
        await sleep(10)
      }

      t.notOk((await connection.answer()).isComplete)
      await eventually(() => socket.destroyed)
    },
  )

  await t.test('a client that leaves takes the stream with it', async () => {
    await eventually(() => plain.openConnections() === 0)
    const connection = connect().send(get('plain'))
    const socket = await plain.next()
    socket.write(`${eventStream}\r\ndata: 1\n\n`)
    await eventually(() => connection.received.includes('data: 1'))

    connection.close()

    await eventually(() => plain.openConnections() === 0, 1000)
  })
})
