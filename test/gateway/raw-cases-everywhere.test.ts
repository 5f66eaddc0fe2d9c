import t, { type Test } from 'tap'
import { head, type RunningHttpServer, reply, startHttpServer } from '../http/support/http-server.ts'
import { newKey } from '../oauth/fapi/support/jws.ts'
import { startOAuth } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { openConnection } from '../support/raw-client.ts'
import { rawCases } from './raw-cases/all.ts'
import type { RawCase } from './raw-cases/raw-case.ts'

/** The result of the bytes of one case, whatever is behind the listener. */
interface Outcome {
  /** In order: the status of a refusal by the HTTP server itself, or that a request was answered, with any status. */
  readonly answers: readonly (number | 'answered')[]
  readonly closes: boolean
}

/** Of a handler's answer; no refusal has it. */
const handled = 299

const bytesOf = ({ bytes }: RawCase): string =>
  bytes.replaceAll('BASE', '/strict').replaceAll('HOST', 'Host: gw.test').replaceAll('TOKEN', 'a-token')

const methodOf = ({ bytes }: RawCase): string => (bytes.startsWith('HEAD ') ? 'HEAD' : 'GET')

/** How the HTTP server alone reads a case: its handler answers every request at once. */
const outcomeOf = async (t: Test, one: RawCase, server: RunningHttpServer): Promise<Outcome> => {
  const bytes = bytesOf(one)
  const requestsBefore = server.requests.length
  const answers: (number | 'answered')[] = []
  const connection = openConnection(t, server.url).send(bytes)
  const takeAnswers = async (): Promise<void> => {
    while (connection.received.length > 0) {
      const { status } = await connection.answer(methodOf(one))
      answers.push(status === handled ? 'answered' : status)
    }
  }
  const hasSettled = (): boolean => {
    const requests = server.requests.slice(requestsBefore)
    const isRead = requests[0]?.socket.bytesRead === bytes.length
    return isRead && answers.length === requests.length
  }
  await eventually(async () => {
    await takeAnswers()
    return connection.state !== 'open' || hasSettled()
  })
  await takeAnswers()
  // The FIN of the server may be on its way.
  const closes = connection.state !== 'open' || server.requests[requestsBefore]?.socket.writableEnded === true
  connection.close()
  return { answers, closes }
}

/** Differences of a listener from the HTTP server alone; undefined: there are no differences. */
const faultOf = async (t: Test, one: RawCase, origin: string, expected: Outcome): Promise<string | undefined> => {
  const connection = openConnection(t, origin).send(bytesOf(one))
  try {
    for (const wanted of expected.answers) {
      const { status } = await connection.answer(methodOf(one))
      const isRight = wanted === 'answered' ? status >= 200 && status < 500 : status === wanted
      if (!isRight) return `${one.id}: ${status} where ${wanted} is right`
    }
    if (!expected.closes) {
      connection.send(head('GET /last', 'Connection: close'))
      await connection.answer()
    }
    if ((await connection.ended()) !== 'closed') return `${one.id}: was reset`
    return connection.received.length === 0 ? undefined : `${one.id}: answered more often than asked`
  } catch (error) {
    return `${one.id}: ${error}`
  } finally {
    connection.close()
  }
}

t.test('every listener reads a hard case in one way, and refuses the same ones with the same status', async t => {
  const bare = await startHttpServer(t, (_request, response) => reply(response, '', handled))
  const outcomes = new Map<RawCase, Outcome>()
  for (const one of rawCases) outcomes.set(one, await outcomeOf(t, one, bare))
  const refused = rawCases.filter(one => typeof outcomes.get(one)?.answers[0] === 'number')
  t.ok(refused.length > 100, `the HTTP server itself refuses ${refused.length} of ${rawCases.length} cases`)
  t.same(
    refused.filter(one => !outcomes.get(one)?.closes),
    [],
    'and closes behind each refusal',
  )

  const internal = `127.0.0.1:${await findFreePort()}`
  const gateway = await startOAuth(t, {
    workers: 1,
    login: { mode: 'handoff', url: 'http://127.0.0.1:9/login' },
    internal: { listen: internal, jwks: { keys: [newKey('ES256').publicJwk] } },
  })
  const workers = gateway.workerPids()
  const faultsAt = async (origin: string, cases: readonly RawCase[]): Promise<readonly string[]> => {
    const faults: string[] = []
    for (const one of cases) {
      const outcome = outcomes.get(one)
      const fault = outcome && (await faultOf(t, one, origin, outcome))
      if (fault !== undefined) faults.push(fault)
    }
    return faults
  }

  const [atTraffic, atPrivate, atAdmin] = await Promise.all([
    // Behind it more is refused, such as paths: raw-cases.test.ts says what.
    faultsAt(gateway.url, refused),
    faultsAt(`http://${internal}`, rawCases),
    faultsAt(gateway.admin, rawCases),
  ])
  t.same(atTraffic, [], 'the traffic listener')
  t.same(atPrivate, [], 'the private listener')
  t.same(atAdmin, [], 'the admin port')
  t.same(gateway.workerPids(), workers)
  t.equal((await fetch(`${gateway.admin}/livez`)).status, 200)
  t.notMatch(gateway.output.join('\n'), /worker_crashed|worker_died|request_failed/)
})
