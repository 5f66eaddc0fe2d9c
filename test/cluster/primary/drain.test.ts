import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import type { RunningSidegate } from '../../support/sidegate.ts'
import { logEntries, openPath, startGateway } from '../support/gateway.ts'
import { startLoad } from '../support/load.ts'
import { publishing, startSlowUpstream } from '../support/slow-upstream.ts'

const readyz = async (sidegate: RunningSidegate): Promise<number> => (await fetch(`${sidegate.admin}/readyz`)).status

const hasExited = (sidegate: RunningSidegate): Promise<boolean> =>
  Promise.race([sidegate.exited.then(() => true), Promise.resolve(false)])

/** Whether the gateway has closed its listening sockets. */
const isRefused = (sidegate: RunningSidegate): Promise<boolean> =>
  openConnection(sidegate).then(
    socket => {
      socket.destroy()
      return false
    },
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  )

/** A connection to the gateway on which no request has been sent yet. */
const openConnection = async (sidegate: RunningSidegate): Promise<Socket> => {
  const { hostname, port } = new URL(sidegate.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

t.test('SIGTERM under load: not ready, still accepting, every answer ends its connection, no request lost', async t => {
  const sidegate = await startGateway(t, { shutdown: { delay: '5s', timeout: '5s' } })
  const load = startLoad({ url: sidegate.url + openPath, keeping: 8, opening: 4, pauseMs: 10 })
  await eventually(() => load.answers.length > 200)
  t.equal(await readyz(sidegate), 200)

  sidegate.kill('SIGTERM')
  await eventually(async () => (await readyz(sidegate)) === 503)
  const unreadyAtMs = performance.now()
  const answered = load.answers.length
  await eventually(() => load.answers.length > answered + 200)
  await load.stop()

  t.same(load.failures, [])
  t.ok(load.answers.every(({ status }) => status === 200))
  const late = load.answers.filter(({ startedAtMs }) => startedAtMs > unreadyAtMs)
  t.ok(late.length > 100, 'the gateway continued to accept connections')
  t.ok(late.every(({ connection }) => connection === 'close'))
  t.ok(
    load.answers.some(({ connection }) => connection === 'keep-alive'),
    'connections were kept alive before',
  )
  t.equal(await sidegate.exited, 0)
})

t.test('a connection that was accepted before the listeners closed is still served', async t => {
  const sidegate = await startGateway(t, { shutdown: { delay: '0s', timeout: '5s' } })
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openConnection(sidegate)))
  sidegate.kill('SIGTERM')
  await eventually(() => isRefused(sidegate))

  for (const socket of sockets) socket.write(`GET ${openPath} HTTP/1.1\r\nHost: a\r\n\r\n`)

  const answers = await Promise.all(sockets.map(socket => text(socket)))
  t.ok(answers.every(answer => /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n/.test(answer)))
  t.equal(await sidegate.exited, 0)
})

t.test('a request in flight at SIGTERM is answered, however long it takes within the timeout', async t => {
  const upstream = await startSlowUpstream(t)
  const sidegate = await startGateway(t, {
    ...publishing(upstream),
    workers: 1,
    shutdown: { delay: '0s', timeout: '60s' },
  })
  const asked = fetch(`${sidegate.url}/slow`)
  await eventually(() => upstream.waiting() === 1)

  sidegate.kill('SIGTERM')
  await eventually(() => isRefused(sidegate))
  // A connection without a request gets one second to send one; this one has a request, so the drain waits longer.
  const beyondMs = performance.now() + 1500
  await eventually(() => performance.now() > beyondMs)
  t.equal(await hasExited(sidegate), false)
  upstream.answerAll('x'.repeat(1_000_000))
  const answer = await asked

  t.equal(answer.status, 200)
  t.equal(answer.headers.get('connection'), 'close', 'no matter when its request arrived')
  t.equal((await answer.text()).length, 1_000_000)
  t.equal(await sidegate.exited, 0)
})

t.test('a request in flight longer than the timeout is aborted: exit code 1', async t => {
  const upstream = await startSlowUpstream(t)
  const sidegate = await startGateway(t, {
    ...publishing(upstream),
    workers: 1,
    shutdown: { delay: '0s', timeout: '200ms' },
  })
  const asked = fetch(`${sidegate.url}/slow`).then(
    () => 'answered',
    () => 'broken off',
  )
  await eventually(() => upstream.waiting() === 1)

  sidegate.kill('SIGTERM')

  t.equal(await sidegate.exited, 1)
  t.equal(await asked, 'broken off')
  await eventually(() => sidegate.workerPids().length === 0)
})

t.test('a drain lasts for its whole delay and its whole timeout', async t => {
  const upstream = await startSlowUpstream(t)
  const sidegate = await startGateway(t, {
    ...publishing(upstream),
    workers: 1,
    shutdown: { delay: '2s', timeout: '2s' },
  })
  const asked = fetch(`${sidegate.url}/slow`).catch(() => 'broken off')
  await eventually(() => upstream.waiting() === 1)

  sidegate.kill('SIGTERM')
  await eventually(() => isRefused(sidegate))
  const [draining] = logEntries(sidegate, 'draining')
  const acceptedForMs = Date.now() - Date.parse(draining?.time ?? '')
  t.equal(await sidegate.exited, 1)
  t.equal(await asked, 'broken off')
  const [stopped] = logEntries(sidegate, 'stopped')
  const lastedMs = Date.parse(stopped?.time ?? '') - Date.parse(draining?.time ?? '')

  // A timer may fire a millisecond early by the clock of the log.
  t.ok(acceptedForMs >= 1990, `connections were accepted for ${acceptedForMs} ms`)
  t.ok(lastedMs >= 3990, `the drain lasted ${lastedMs} ms`)
})

t.test('a connection that sends its request only after SIGTERM is served', async t => {
  const sidegate = await startGateway(t, { workers: 1, shutdown: { delay: '60s', timeout: '5s' } })
  const socket = await openConnection(sidegate)
  sidegate.kill('SIGTERM')
  await eventually(async () => (await readyz(sidegate)) === 503)

  socket.write(`GET ${openPath} HTTP/1.1\r\nHost: a\r\n\r\n`)

  t.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n/)
})

t.test('a second SIGTERM does not wait', async t => {
  const sidegate = await startGateway(t, { workers: 1, shutdown: { delay: '10m', timeout: '10m' } })
  sidegate.kill('SIGTERM')
  await eventually(async () => (await readyz(sidegate)) === 503)

  sidegate.kill('SIGTERM')

  t.equal(await sidegate.exited, 0)
})

t.test('a worker that dies while draining is replaced by one that drains', async t => {
  const sidegate = await startGateway(t, { workers: 1, shutdown: { delay: '10m', timeout: '5s' } })
  sidegate.kill('SIGTERM')
  await eventually(async () => (await readyz(sidegate)) === 503)

  for (const pid of sidegate.workerPids()) process.kill(pid, 'SIGKILL')
  const answer = await fetch(sidegate.url + openPath)

  t.equal(answer.status, 200)
  t.equal(answer.headers.get('connection'), 'close')
})

t.test('when the primary is killed, its workers exit and its port is free', async t => {
  const sidegate = await startGateway(t)
  t.equal(sidegate.workerPids().length, 2)

  sidegate.kill('SIGKILL')

  await eventually(() => sidegate.workerPids().length === 0)
  const { port } = new URL(sidegate.url)
  const next = await startGateway(t, { listen: `127.0.0.1:${port}`, workers: 1 })
  t.equal((await fetch(next.url + openPath)).status, 200)
})
