import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { openConnection } from '../../support/raw-client.ts'
import { type RecordedRequest, type Script, startCountingUpstream } from '../../support/recording-upstream.ts'
import { sampleOf, scrape, startGateway } from '../support/running.ts'

const ok: Script = socket => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
const broken: Script = socket => socket.write('HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n')

/** Answers, unless it is asked to hold on or to break off. */
const follow: Script = (socket, request, count) => {
  if (request.target.endsWith('/hold')) return
  if (request.target.endsWith('/reset')) socket.resetAndDestroy()
  else ok(socket, request, count)
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: gw.test\r\n\r\n`

t.test('several members serve an upstream as one', async t => {
  const one = await startCountingUpstream(t, follow)
  const two = await startCountingUpstream(t, follow)
  const failing = await startCountingUpstream(t, broken)
  const port = await findFreePort()
  const gone = `http://127.0.0.1:${port}`
  const outlierDetection = { failures: 3, baseEjectionTime: '100ms' }
  const upstreams = {
    pair: { targets: [one.url, two.url] },
    half: { targets: [gone, two.url], outlierDetection },
    sick: {
      targets: [failing.url, two.url],
      outlierDetection: { failures: 3, baseEjectionTime: '1h', maxEjectionTime: '1h' },
    },
    alone: { targets: [failing.url], outlierDetection: { ...outlierDetection, maxEjectionPercent: 100 } },
    absent: { targets: [gone, gone.replace('127.0.0.1', '127.0.0.2')] },
    strict: { targets: [gone, two.url], retryBudgetPercent: 0, outlierDetection: { failures: 0 } },
  }
  const gateway = await startGateway(t, Object.fromEntries(Object.keys(upstreams).map(name => [name, ''])), {
    upstreams,
  })
  const ask = (path: string) => openConnection(t, gateway.url).send(get(path)).answer()
  const members = async (name: string, state: string): Promise<number> =>
    sampleOf(await scrape(gateway), 'sidegate_upstream_endpoints', `"${name}"`, `"${state}"`)
  const retries = async (name: string, decision: string): Promise<number> =>
    sampleOf(await scrape(gateway), 'sidegate_upstream_retries_total', `"${name}"`, `"${decision}"`)
  const logged = (event: string, port: string | number): number =>
    gateway.output.filter(line => line.includes(`"${event}"`) && line.includes(`"address":"127.0.0.1:${port}"`)).length
  const held = () => [one, two].map(({ requests }) => requests.filter(({ target }) => target === '/pair/hold').length)

  await t.test('each request goes to the one that has fewer under way', async t => {
    const holding = openConnection(t, gateway.url).send(get('/pair/hold'))
    await eventually(() => held().includes(1))
    const [busy, free] = held()[0] === 1 ? [one, two] : [two, one]
    const before = { busy: busy.requests.length, free: free.requests.length }

    for (let i = 0; i < 10; i++) t.equal((await ask('/pair/x')).status, 200)
    t.equal(busy.requests.length, before.busy)
    t.equal(free.requests.length, before.free + 10)
    holding.close()
  })

  await t.test('an unreachable endpoint costs no request, whatever the method, and is ejected', async t => {
    const bodies = (): readonly RecordedRequest[] => two.requests.filter(({ target }) => target === '/half/x')
    const post = 'POST /half/x HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
    for (let i = 0; i < 20; i++) {
      t.equal((await ask('/half/x')).status, 200)
      t.equal((await openConnection(t, gateway.url).send(post).answer()).status, 200)
    }

    t.equal(bodies().length, 40)
    t.equal(bodies().filter(({ body }) => body === '5\r\nhello\r\n0\r\n\r\n').length, 20)
    t.ok((await retries('half', 'allowed')) >= 3)
    await eventually(() => logged('upstream_endpoint_ejected', port) > 0)
  })

  await t.test('once it is reachable again it gets requests again', async t => {
    const server = createServer((_req, res) => res.end('back')).listen(port, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')

    await eventually(async () => (await ask('/half/x')).body.toString() === 'back')
    await eventually(() => logged('upstream_endpoint_restored', port) > 0)
    await eventually(async () => (await members('half', 'available')) === 2)
    server.closeAllConnections()
  })

  await t.test('an endpoint that answers 5xx several times in a row is ejected, and logged once', async t => {
    await eventually(async () => {
      await ask('/sick/x')
      return (await members('sick', 'ejected')) === 1
    })
    const before = failing.requests.length

    for (let i = 0; i < 20; i++) t.equal((await ask('/sick/x')).status, 200)
    t.equal(failing.requests.length, before)
    t.equal(await members('sick', 'available'), 1)
    t.equal(logged('upstream_endpoint_ejected', new URL(failing.url).port), 1)
  })

  await t.test('the only member is never left alone', async t => {
    for (let i = 0; i < 10; i++) t.equal((await ask('/alone/x')).status, 500)

    t.equal(await members('alone', 'available'), 1)
    t.equal(await members('alone', 'ejected'), 0)
  })

  await t.test('where no member is left there is a refusal', async t => {
    const before = await retries('absent', 'allowed')

    t.equal((await ask('/absent/x')).status, 502)
    t.equal((await retries('absent', 'allowed')) - before, 1)
  })

  await t.test('where nothing may be retried the first failure counts', async t => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask('/strict/x')))

    t.same(new Set(answers.map(({ status }) => status)), new Set([200, 502]))
    t.equal(await retries('strict', 'allowed'), 0)
  })

  await t.test('retries stay within their budget while every member breaks off', async t => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask('/pair/reset')))
    const asked = [one, two].flatMap(({ requests }) => requests.filter(({ target }) => target === '/pair/reset')).length

    t.same(new Set(answers.map(({ status }) => status)), new Set([502]))
    t.equal(asked, 100 + (await retries('pair', 'allowed')))
    t.ok(asked <= 160, `${asked} for 100, in two windows at most`)
    t.ok((await retries('pair', 'denied')) >= 40)
  })
})
