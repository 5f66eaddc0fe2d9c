import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { headerOf } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { startHeldUpstream } from '../streams/support/held-upstream.ts'
import { startGateway } from '../support/running.ts'

const post = (path: string, field: string): string => `POST ${path} HTTP/1.1\r\nHost: gw.test\r\n${field}\r\n\r\n`

/** Longest silence of an answer on a machine that is busy. */
const patienceMs = 20_000

t.test('a forwarded body is as large as its operation takes, and no larger', async t => {
  const upstream = await startStrictUpstream(t)
  const open = { method: 'POST', credentials: 'none' }
  const { url } = await startGateway(
    t,
    {},
    {
      groupings: [
        {
          name: 'Files',
          upstream: 'up',
          maxBody: '10B',
          operations: [
            { ...open, path: '/small' },
            { ...open, path: '/larger', maxBody: '1KiB' },
          ],
        },
      ],
      upstreams: { up: { targets: [upstream.url] } },
      clients: [],
    },
  )

  await t.test("a length beyond the grouping's size is refused before anything goes upstream", async t => {
    const connection = openConnection(t, url).send(post('/small', 'Content-Length: 11'))
    const refused = await connection.answer()

    t.match(JSON.parse(refused.body.toString()), { status: 413, code: 'BODY_TOO_LARGE' })
    t.equal(headerOf(refused, 'connection'), 'close')
    t.equal(upstream.requests.length, 0)
  })

  await t.test('a length that is just as large passes', async t => {
    const passed = await openConnection(t, url)
      .send(`${post('/small', 'Content-Length: 10')}0123456789`)
      .answer()

    t.equal(passed.status, 200)
  })

  await t.test('a body in chunks is counted as it comes', async t => {
    const chunks = '5\r\nhello\r\n5\r\nhello\r\n'
    const before = upstream.requests.length
    const passed = await openConnection(t, url)
      .send(`${post('/small', 'Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`)
      .answer()
    const refused = await openConnection(t, url)
      .send(`${post('/small', 'Transfer-Encoding: chunked')}${chunks}1\r\n!\r\n`)
      .answer()

    t.equal(passed.status, 200)
    t.equal(refused.status, 413)
    await eventually(() => upstream.openConnections() <= 1)
    t.equal(upstream.requests.length, before + 1, 'the one that was refused never ended')
  })

  await t.test("an operation's own size comes before its grouping's", async t => {
    const passed = await openConnection(t, url)
      .send(`${post('/larger', 'Content-Length: 1024')}${'x'.repeat(1024)}`)
      .answer()
    const refused = await openConnection(t, url).send(post('/larger', 'Content-Length: 1025')).answer()

    t.equal(passed.status, 200)
    t.equal(refused.status, 413)
  })
})

t.test(
  'a body in chunks that grows too large after its head has left is refused, and the upstream gets no end',
  async t => {
    const held = await startHeldUpstream(t)
    const operation = { method: 'POST', path: '/small', credentials: 'none', maxBody: '10B' }
    const { url } = await startGateway(
      t,
      {},
      {
        groupings: [{ name: 'Files', upstream: 'up', operations: [operation] }],
        upstreams: { up: { targets: [held.url], headersTimeout: '60s' } },
        clients: [],
      },
    )
    const begin = async () => {
      const connection = openConnection(t, url)
        .send(post('/small', 'Transfer-Encoding: chunked'))
        .send('5\r\nhello\r\n')
      const socket = await held.next()
      const received: Buffer[] = []
      const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
      socket.on('data', (piece: Buffer) => received.push(piece))
      return { connection, socket, closed, received: () => Buffer.concat(received).toString() }
    }

    await t.test('before the upstream answers: 413', async t => {
      const { connection, closed, received } = await begin()

      connection.send('6\r\nworld!\r\n0\r\n\r\n')

      t.equal((await connection.answer('POST', patienceMs)).status, 413)
      await closed
      t.equal(received().includes('world'), false, 'what is beyond the size stays here')
      t.equal(received().includes('0\r\n\r\n'), false, 'the upstream cannot take it for a whole body')
    })

    await t.test('after the upstream has begun its answer: the answer breaks off', async t => {
      const { connection, socket, closed, received } = await begin()
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n')
      await eventually(() => connection.received.includes('ok'))

      connection.send('6\r\nworld!\r\n0\r\n\r\n')

      await eventually(() => connection.state !== 'open')
      t.equal((await connection.answer('POST')).isComplete, false)
      await closed
      t.equal(received().includes('world'), false)
      t.equal(received().includes('0\r\n\r\n'), false)
    })
  },
)
