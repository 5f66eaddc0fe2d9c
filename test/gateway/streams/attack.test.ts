import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.ts'
import { openConnection } from '../../support/raw-client.ts'
import { sampleOf, scrape, startGateway } from '../support/running.ts'
import { startStressUpstream } from './support/stress-upstream.ts'

const line = (text: string): string => `${text} HTTP/1.1\r\nHost: gw.test\r\n`
const bigDownload = 64 * 1024 * 1024

/** The bytes that each attacker sends. None is a complete request. */
const openings = {
  'says nothing': '',
  'stops in its header': line('GET /up/a'),
  'stops in its body': `${line('POST /up/up')}Content-Length: 10\r\n\r\nhello`,
  'stops in a chunk': `${line('POST /up/up')}Transfer-Encoding: chunked\r\n\r\n5\r\nhe`,
  'does not read': `${line(`GET /up/down/${bigDownload}`)}\r\n`,
  'is no client': 'no request at all\r\n\r\n',
} as const

const eachTimes = 50

/** Fifty downloads of 64 MiB begin at the same time, on a machine that may be busy. */
const longestWaitMs = 15_000

/** A connection that is read only when it is resumed. */
const openSocket = (t: Test, origin: string): Socket => {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).on('error', () => undefined)
  t.teardown(() => socket.destroy())
  return socket
}

t.test('slow, idle and invalid connections are closed, and other clients do not wait for them', async t => {
  const url = await startStressUpstream(t)
  const gateway = await startGateway(
    t,
    { up: url },
    {
      // Long enough that a busy machine has all of them open at the same time.
      requests: { headerTimeout: '5s', timeout: '6s', sendTimeout: '5s' },
      // The upstream is this process, which may have to wait for a CPU.
      upstreams: { up: { targets: [url], headersTimeout: '60s' } },
    },
  )
  const workers = gateway.workerPids()
  const inFlight = async (): Promise<number> => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight')

  const openFiles = (): number => readdirSync(`/proc/${workers[0]}/fd`).length
  const openBefore = openFiles()

  for (const [what, bytes] of Object.entries(openings)) {
    for (let opened = 0; opened < eachTimes; opened++) {
      const socket = openSocket(t, gateway.url)
      if (what !== 'does not read') socket.resume()
      if (opened % 5 === 0 && what.startsWith('stops')) socket.end(bytes)
      else socket.write(bytes)
    }
  }
  await eventually(async () => (await inFlight()) >= eachTimes)

  await t.test('others are served meanwhile, and the admin port answers', async t => {
    for (let asked = 0; asked < 20; asked++) {
      const answer = await openConnection(t, gateway.url)
        .send(`${line('GET /up/a')}\r\n`)
        .answer('GET', longestWaitMs)
      t.equal(answer.status, 200)
      t.equal((await fetch(`${gateway.admin}/livez`)).status, 200)
    }
  })

  await t.test('each of them is let go, and leaves nothing behind', async t => {
    await eventually(async () => (await inFlight()) === 0)
    await eventually(() => openFiles() < openBefore + eachTimes / 2)

    // A scrape does not wait for long for what the worker has counted.
    const isDropped = async (reason: string): Promise<boolean> =>
      sampleOf(await scrape(gateway), 'sidegate_connections_dropped_total', `"${reason}"`) >= eachTimes
    await eventually(() => isDropped('timeout'))
    await eventually(() => isDropped('write_stalled'))
    await eventually(() => isDropped('invalid'))
    t.same(gateway.workerPids(), workers)
    t.notMatch(gateway.output.join('\n'), /worker_crashed|worker_died|request_failed/)
  })
})
