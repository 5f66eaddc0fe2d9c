/** How often a request of an OAuth operation is parsed, and that its steps wait for nothing that they know. */
import t, { type Test } from 'tap'
import { authenticate } from '../../src/gateway/authn/authenticate.ts'
import type { AuthenticationDeps } from '../../src/gateway/authn/authentication-step.ts'
import { createBruteForceLimit } from '../../src/gateway/authn/brute-force-limit.ts'
import { createExchange, type Exchange } from '../../src/gateway/exchange.ts'
import type { Operation } from '../../src/gateway/operation.ts'
import { operationMetricsOf } from '../../src/gateway/operation-metrics.ts'
import { run } from '../../src/gateway/pipeline.ts'
import { serveOperation } from '../../src/gateway/serve.ts'
import { createMemoryLimiter } from '../../src/stores/memory/limiter.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { createRequestContext } from '../http/support/request-context.ts'
import { issuer, startServer } from '../oauth/support/authorization-server.ts'

const newOperation = (changes: Pick<Operation, 'credentials' | 'target'>) =>
  operationMetricsOf(
    { grouping: 'A', version: '1.0.0', method: 'GET', path: '/', aliases: [], scopes: [], plan: 'none', ...changes },
    createRecorder(),
    () => ({ status: 400, headers: {}, body: '' }),
  )

const authorize = newOperation({
  credentials: 'none',
  target: { kind: 'serve', serves: 'authorize', advertise: true },
})
const metadata = newOperation({
  credentials: 'query',
  target: { kind: 'serve', serves: 'metadata', advertise: true },
})

/** The steps that answer an OAuth operation, and how often the authorization server parsed anything for them. */
const start = async (t: Test) => {
  const { server, deps, clock } = await startServer(t)
  let timesParsed = 0
  const caller: AuthenticationDeps = {
    authorizationServer: {
      ...server,
      parseParameters: request => {
        timesParsed++
        return server.parseParameters(request)
      },
    },
    findClient: client_id => deps.clients.find(client_id),
    issuer,
    failures: createBruteForceLimit(createMemoryLimiter(clock), { limit: 10, windowSec: 60 }, clock.nowMs),
  }
  const audit = { write: () => undefined }
  return {
    prove: authenticate(caller),
    steps: [authenticate(caller), serveOperation(caller.authorizationServer, createRecorder(), audit)],
    timesParsed: () => timesParsed,
  }
}

const newExchange = (operation: Exchange['operation'], query: string): Exchange => {
  const exchange = createExchange(createRequestContext())
  exchange.operation = operation
  exchange.target = { path: '/authorize', query }
  return exchange
}

t.test('an authorization request is parsed once: for the client that it names, and for its answer', async t => {
  const { steps, timesParsed } = await start(t)
  const exchange = newExchange(authorize, 'client_id=app&response_type=code&scope=nope')

  t.match(await run(steps, exchange), { status: 303 }, 'it says that the scope is not good')

  t.match(exchange.caller, { kind: 'unknown', named: { client_id: 'app' } })
  t.equal(timesParsed(), 1)
})

t.test('an authorization request with too many parameters names no client', async t => {
  const { steps } = await start(t)
  const exchange = newExchange(authorize, `client_id=app${'&a=1'.repeat(100)}`)

  t.match(await run(steps, exchange), { status: 400, body: /More than 100 parameters were sent/ })
  t.same(exchange.caller, { kind: 'unknown', named: undefined })
})

t.test(
  'a client with its secret in the query is proven without waiting, and one with a wrong secret is refused',
  async t => {
    const { prove } = await start(t)
    const exchange = newExchange(metadata, 'client_id=app&client_secret=app-secret')

    t.equal(prove(exchange), undefined)
    t.match(exchange.caller, { kind: 'client', client: { client_id: 'app' } })
    t.throws(() => prove(newExchange(metadata, 'client_id=app')), { code: 'invalid_client' })
    await t.rejects(Promise.resolve(prove(newExchange(metadata, 'client_id=app&client_secret=x'))), {
      code: 'invalid_client',
    })
  },
)
