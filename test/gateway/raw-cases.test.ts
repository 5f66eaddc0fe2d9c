import t, { type Test } from 'tap'
import { openConnection } from '../support/raw-client.ts'
import { type RecordingUpstream, startCountingUpstream, startStrictUpstream } from '../support/recording-upstream.ts'
import { framingCases } from './raw-cases/framing.ts'
import { headerCases } from './raw-cases/header.ts'
import { hostile, type RawCase } from './raw-cases/raw-case.ts'
import { targetCases } from './raw-cases/target.ts'
import { scrape, startGateway } from './support/running.ts'

t.test(
  'hard cases: every request gets one answer of its own, and an upstream sees what was meant or nothing',
  async t => {
    const upstreams = { strict: await startStrictUpstream(t), counting: await startCountingUpstream(t) }
    const gateway = await startGateway(t, { strict: upstreams.strict.url, counting: upstreams.counting.url })
    const workers = gateway.workerPids()

    for (const [name, upstream] of Object.entries(upstreams)) {
      for (const one of [...framingCases, ...targetCases, ...headerCases]) {
        await t.test(`${one.id}: ${one.what}, before the ${name} upstream`, t =>
          drive(t, one, gateway.url, name, upstream),
        )
      }
    }

    await t.test('I5: nothing hostile was logged or counted', async t => {
      t.notMatch(gateway.output.join('\n'), new RegExp(hostile))
      t.notMatch(await scrape(gateway), new RegExp(hostile))
    })
    t.same(gateway.workerPids(), workers, 'I6: no worker died of it')
  },
)

const drive = async (
  t: Test,
  one: RawCase,
  origin: string,
  name: string,
  upstream: RecordingUpstream,
): Promise<void> => {
  const before = upstream.requests.length
  const bytes = one.bytes.replaceAll('BASE', `/${name}`).replaceAll('HOST', 'Host: gw.test')

  const connection = openConnection(t, origin).send(bytes)
  const answer = await connection.answer()
  if (one.closes) await connection.ended()
  if (answer.status === 100) await connection.answer()
  const next = await askForItself(t, origin, name)

  t.ok(one.statuses.includes(answer.status), `answered with ${answer.status}`)
  t.notMatch(answer.body.toString(), new RegExp(hostile), 'the answer repeats nothing')
  t.match(next.body, { target: next.target }, 'I2: a request after it gets its own answer')
  const seen = upstream.requests.slice(before, -1)
  t.ok(seen.length <= (one.forwarded ?? 0), `I1: ${seen.length} requests reached the upstream`)
  if (answer.status === 200) t.equal(seen.length, one.forwarded)
  t.notMatch(
    JSON.stringify(seen.map(({ fields }) => fields)),
    new RegExp(hostile),
    'I4: no field that the client made up',
  )
  if (one.body) for (const { body } of seen) t.match(body, one.body)
  t.same(upstream.faults, [], 'I1: all that reached the upstream was framed in one way')
}

const askForItself = async (t: Test, origin: string, name: string) => {
  const target = `/${name}/${crypto.randomUUID()}`
  const connection = openConnection(t, origin).send(`GET ${target} HTTP/1.1\r\nHost: gw.test\r\n\r\n`)
  const { body } = await connection.answer()
  return { target, body: JSON.parse(body.toString()) as unknown }
}
