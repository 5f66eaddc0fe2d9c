import t, { type Test } from 'tap'
import { createAccessLog, operationMembers } from '../../src/telemetry/access-log.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { openPath, startGateway } from '../cluster/support/gateway.ts'
import { eventually } from '../support/eventually.ts'
import type { RunningSidegate } from '../support/sidegate.ts'

type Line = Readonly<Record<string, unknown>>

/** The access line of the request with this id; waits until the line is written. */
const lineOf = async (sidegate: RunningSidegate, id: string | null): Promise<Line> => {
  const find = (): string | undefined =>
    sidegate.output.find(line => line.includes(`"event":"request","request_id":"${id}"`))
  await eventually(() => find() !== undefined)
  return JSON.parse(find() ?? '')
}

const ask = async (t: Test, path: string) => {
  const sidegate = await startGateway(t, {
    workers: 1,
    store: 'memory:',
    groupings: [
      {
        name: 'Open',
        version: '2.0.0',
        operations: [
          { method: 'GET', path: openPath, serves: 'jwks', plan: 'none' },
          { method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' },
        ],
      },
    ],
    clients: [{ client_id: 'app', client_secret: 'app-secret', grant_types: ['client_credentials'] }],
  })
  const response = await fetch(sidegate.url + path)
  return { response, line: await lineOf(sidegate, response.headers.get('x-request-id')), sidegate }
}

t.test('an access line has the facts of the request, and no part of its query', async t => {
  const { line, sidegate } = await ask(t, '/metadata?client_id=app&client_secret=app-secret')

  const { time, duration_ms, request_id, ...facts } = line
  t.same(facts, {
    level: 'info',
    event: 'request',
    worker_pid: sidegate.workerPids()[0],
    grouping: 'Open',
    operation: 'GET /metadata',
    method: 'GET',
    path: '/metadata',
    status: 200,
    client_id: 'app',
    address: '127.0.0.1',
  })
  t.notOk('refused' in line)
  t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.ok(Number(duration_ms) > 0)
  t.match(request_id, /^[\da-f-]{36}$/)
  t.notOk(sidegate.output.join('\n').includes('app-secret'))
})

t.test('the line of a failed authentication has the reason, which the answer does not have', async t => {
  const { line, response } = await ask(t, '/metadata?client_id=app&client_secret=wrong')

  t.match(line, { status: 401, error_code: 'bad_secret' })
  t.equal(await response.text(), '{"error":"invalid_client","error_description":"Client authentication failed"}')
})

t.test('a request that matches no operation has an access line too', async t => {
  const { line } = await ask(t, '/nowhere')

  t.match(line, { grouping: 'unmatched', operation: 'unmatched', path: '/nowhere', status: 404 })
  t.notOk('client_id' in line)
})

t.test('a path longer than one atomic write to a pipe is cut', async t => {
  const { line } = await ask(t, `/${'x'.repeat(8000)}`)

  t.equal(line.path, `/${'x'.repeat(1023)}…`)
})

t.test('the text after an encoded question mark is not logged, because it may be a query with a secret', async t => {
  const { line, sidegate } = await ask(t, '/token%3fclient_secret=app-secret')

  t.equal(line.path, '/token…')
  t.notOk(sidegate.output.join('\n').includes('app-secret'))
})

t.test('milliseconds are numbers with up to three decimal places', async t => {
  const { log } = await createLogger({ level: 'info', base: {} })
  const written: string[] = []
  const lines = { write: (line: string) => void written.push(line), flush: () => undefined }
  const accessLog = createAccessLog({ log, base: {}, lines, print: lines.write, flush: () => undefined })
  const entry = {
    request_id: 'one',
    operation: operationMembers('Open', 'GET /'),
    method: 'GET',
    path: '/',
    status: 200,
    client_id: undefined,
    address: '127.0.0.1',
  }

  for (const ms of [0.0004, 0.0016, 1.5, 12, 12.045, 999.9996, 61_000.25]) {
    accessLog.write({ ...entry, durationMs: ms, upstreamMs: ms })
  }

  const seen = written.map(line => /"duration_ms":(.*),"upstream_ms":(.*)}\n$/.exec(line)?.slice(1))
  t.same(
    seen,
    ['0', '0.002', '1.5', '12', '12.045', '1000', '61000.25'].map(text => [text, text]),
  )
})
