import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { fieldOf, type RecordedRequest, type Script, startCountingUpstream } from '../../support/recording-upstream.ts'
import { openUpstream } from './support.ts'

const health = { path: '/healthz', intervalMs: 10, timeoutMs: 1_000, healthy: 2, unhealthy: 3 }

/** A service that answers its checks as the test wants. */
const startService = async (t: { teardown(handler: () => unknown): unknown }) => {
  const state = { answer: 'HTTP/1.1 204 No Content\r\n\r\n' }
  const script: Script = socket => void (state.answer !== '' && socket.write(state.answer))
  const upstream = await startCountingUpstream(t, script)
  const checks = (): readonly RecordedRequest[] => upstream.requests.filter(({ target }) => target === '/healthz')
  return { state, url: upstream.url, checks }
}

t.test('a member that does not pass its check is asked for nothing else, until it does', async t => {
  const one = await startService(t)
  const two = await startService(t)
  const { upstream, logged } = openUpstream(t, { targets: [one.url, two.url], health })
  const addressOf = (url: string): string => url.replace('http://', '')
  const chosen = (): ReadonlySet<string | undefined> =>
    new Set(
      Array.from({ length: 60 }, () => {
        const member = upstream.take()
        if (member) upstream.giveBack(member)
        return member?.address
      }),
    )
  await eventually(() => one.checks().length > 3 && two.checks().length > 3)
  t.equal(chosen().size, 2)
  t.equal(fieldOf(one.checks()[0], 'host'), addressOf(one.url))
  t.same(logged, [])

  one.state.answer = 'HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n'
  await eventually(() => logged.length === 1)
  t.match(logged[0], { event: 'upstream_endpoint_unhealthy', upstream: 'up', address: addressOf(one.url) })
  t.same(chosen(), new Set([addressOf(two.url)]))

  one.state.answer = 'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'
  await eventually(() => logged.length === 2)
  t.match(logged[1], { event: 'upstream_endpoint_healthy', address: addressOf(one.url) })
  t.equal(chosen().size, 2)
})

t.test('a late response is a failure', async t => {
  const service = await startService(t)
  service.state.answer = ''
  const { logged } = openUpstream(t, { targets: [service.url], health: { ...health, timeoutMs: 20, unhealthy: 1 } })

  await eventually(() => logged.length === 1)
  t.match(logged[0], { event: 'upstream_endpoint_unhealthy' })
})

t.test('a response that does not end in time is a failure, also an event stream', async t => {
  const endless: Script = socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n')
    const timer = setInterval(() => socket.write(':\n'), 5)
    socket.once('close', () => clearInterval(timer))
  }
  const service = await startCountingUpstream(t, endless)
  const { logged } = openUpstream(t, { targets: [service.url], health: { ...health, timeoutMs: 200, unhealthy: 1 } })

  await eventually(() => logged.length === 1)
  t.match(logged[0], { event: 'upstream_endpoint_unhealthy' })
})

t.test('so many failures in a row are needed, and not one fewer', async t => {
  const service = await startService(t)
  const answers = ['404 Not Found', '404 Not Found', '200 OK']
  let asked = 0
  const script: Script = socket => {
    socket.write(`HTTP/1.1 ${answers[asked % answers.length]}\r\ncontent-length: 0\r\n\r\n`)
    asked += 1
  }
  const flaky = await startCountingUpstream(t, script)
  const { logged } = openUpstream(t, { targets: [flaky.url, service.url], health })

  await eventually(() => asked > 12)
  t.same(logged, [])
})

t.test('a removed endpoint is not checked any longer', async t => {
  const service = await startService(t)
  const { upstream } = openUpstream(t, { targets: [service.url], health })
  await eventually(() => service.checks().length > 0)
  upstream.close()
  const before = service.checks().length

  const other = await startService(t)
  openUpstream(t, { targets: [other.url], health })
  await eventually(() => other.checks().length > 3)
  t.ok(service.checks().length <= before + 1, 'but for one that was on its way')
})
