import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import { openConnection, type RawConnection } from '../support/raw-client.ts'
import {
  fieldOf,
  type RecordedRequest,
  type RecordingUpstream,
  startCountingUpstream,
  startStrictUpstream,
} from '../support/recording-upstream.ts'
import { rawCases } from './raw-cases/all.ts'
import { hostile, type RawCase, request } from './raw-cases/raw-case.ts'
import { cite } from './support/checklist.ts'
import { fetchToken, sampleOf, scrape, startGateway } from './support/running.ts'

t.test('no two cases have one id', async t => {
  t.equal(new Set(rawCases.map(({ id }) => id)).size, rawCases.length)
  t.ok(rawCases.length >= 150, `${rawCases.length} cases`)
})

t.test(
  'hard cases: every request gets one answer of its own, and an upstream sees what was meant or nothing',
  async t => {
    const upstreams = { strict: await startStrictUpstream(t), counting: await startCountingUpstream(t) }
    const gateway = await startGateway(t, { strict: upstreams.strict.url, counting: upstreams.counting.url })
    const workers = gateway.workerPids()
    const token = await fetchToken(gateway.url)

    for (const [name, upstream] of Object.entries(upstreams)) {
      for (const one of rawCases) {
        await t.test(`${one.what}, before the ${name} upstream ${cite(one.id)}`, t =>
          drive(t, one, { origin: gateway.url, name, upstream, token }),
        )
      }
    }

    for (const leave of ['reset', 'close', 'finish'] as const) {
      await t.test(
        `a client that leaves at whatever byte (${leave}) has asked for nothing, or for one whole thing`,
        t => leaveAtEveryByte(t, leave, gateway.url, upstreams.counting),
      )
    }

    await t.test('nothing is held of any of it (checklist I6)', async t => {
      const inFlight = async () => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight')
      await eventually(async () => (await inFlight()) === 0)
      t.equal(await inFlight(), 0)
    })

    await t.test('nothing hostile was logged or counted (checklist I5)', async t => {
      const said = gateway.output.join('\n')
      t.notMatch(said, new RegExp(hostile))
      t.notOk(said.includes(token), 'nor the token')
      t.notMatch(await scrape(gateway), new RegExp(hostile))
    })
    t.same(gateway.workerPids(), workers, 'no worker died of it (checklist I6)')
  },
)

/** Requests that are broken off at every byte; the first has been whole a few bytes before its end. */
const brokenOff: readonly string[] = [
  request('POST BASE/x', ['Content-Length: 5'], 'hello') + request('GET BASE/y').slice(0, -2),
  request('DELETE BASE/x', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n').slice(0, -1),
  request('GET BASE/x', ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']).slice(0, -1),
]

const leaveAtEveryByte = async (
  t: Test,
  leave: 'reset' | 'close' | 'finish',
  origin: string,
  upstream: RecordingUpstream,
): Promise<void> => {
  for (const whole of brokenOff) {
    const bytes = whole.replaceAll('BASE', '/counting').replaceAll('HOST', 'Host: gw.test')
    const before = upstream.requests.length
    const connections = [...bytes.slice(1)].map((_, at) => openConnection(t, origin).send(bytes.slice(0, at + 1)))
    const clean = await askForItself(t, origin, 'counting')
    for (const connection of connections) connection[leave]()
    const next = await askForItself(t, origin, 'counting')

    t.match(clean.body, { target: clean.target }, 'others are served meanwhile')
    t.match(next.body, { target: next.target }, 'and after it')
    const targets = upstream.requests.slice(before).map(({ target }) => target)
    const most = whole.startsWith('POST') ? bytes.length - bytes.indexOf('hello') - 'hello'.length + 1 : 0
    t.ok(targets.filter(target => target.endsWith('/x')).length <= most, 'what was not whole was never one')
    t.notOk(targets.includes('/counting/y'))
    t.same(upstream.faults, [])
  }
}

interface Surroundings {
  readonly origin: string
  readonly name: string
  readonly upstream: RecordingUpstream
  readonly token: string
}

const drive = async (t: Test, one: RawCase, { origin, name, upstream, token }: Surroundings): Promise<void> => {
  const before = upstream.requests.length
  const bytes = one.bytes.replaceAll('BASE', `/${name}`).replaceAll('HOST', 'Host: gw.test').replaceAll('TOKEN', token)

  const connection = openConnection(t, origin).send(bytes)
  const { status, body } = await finalAnswer(connection, one)
  if (!t.ok(one.statuses.includes(status), `answered with ${status}`)) return
  for (const statuses of one.further ?? []) {
    const { status } = await connection.answer()
    if (!t.ok(statuses.includes(status), `then with ${status}`)) return
  }
  if (one.closes) await connection.ended()
  const next = await askForItself(t, origin, name)

  t.equal(connection.received.length, 0, 'and with nothing more')
  t.notMatch(body.toString(), new RegExp(hostile), 'the answer repeats nothing')
  t.match(
    next.body,
    { target: next.target },
    'a request after it gets its own answer (RFC 9112 section 11.2; checklist I2)',
  )
  t.same(
    upstream.faults,
    [],
    'all that reached the upstream was framed in one way (RFC 9112 section 6.3; checklist I1)',
  )
  isAsMeant(t, one, status, upstream.requests.slice(before, -1))
}

/** An interim answer is as good as the final one that follows it. */
const finalAnswer = async (connection: RawConnection, { bytes }: RawCase) => {
  const first = await connection.answer(bytes.startsWith('HEAD') ? 'HEAD' : 'GET')
  if (first.status !== 100) return first
  return { ...(await connection.answer()), status: 100 }
}

const isAsMeant = (t: Test, one: RawCase, status: number, seen: readonly RecordedRequest[]): void => {
  t.ok(
    seen.length <= (one.forwarded ?? 0),
    `${seen.length} requests reached the upstream (RFC 9112 section 6.3; checklist I1)`,
  )
  if (status === 200) t.equal(seen.length, one.forwarded)
  t.notMatch(
    JSON.stringify(seen.map(({ fields }) => fields)),
    new RegExp(hostile),
    'no field that the client made up (RFC 9700 section 4.13; checklist I4)',
  )
  for (const request of seen) {
    if (one.body) t.match(request.body, one.body)
    for (const [name, value] of Object.entries(one.fields ?? {})) t.equal(fieldOf(request, name), value, name)
  }
}

const askForItself = async (t: Test, origin: string, name: string) => {
  const target = `/${name}/${crypto.randomUUID()}`
  const connection = openConnection(t, origin).send(`GET ${target} HTTP/1.1\r\nHost: gw.test\r\n\r\n`)
  const { body } = await connection.answer()
  return { target, body: JSON.parse(body.toString()) as unknown }
}
