/** Operations that need no I/O return at once, without a promise. */
import t from 'tap'
import { hashGeneratedSecret, hashSecret } from '../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../src/secret.ts'
import { client, formRequest, startServer, type TestServer } from './support/authorization-server.ts'

const generated = new Secret('made-secret')
const chosen = new Secret('slow-secret')

const start = async (t: Parameters<typeof startServer>[0]) =>
  startServer(t, {
    clients: [
      client('app'),
      client('made', { secrets: [{ kind: 'hash', value: new Secret(hashGeneratedSecret(generated)) }] }),
      client('slow', { secrets: [{ kind: 'hash', value: new Secret(await hashSecret(chosen)) }] }),
    ],
  })

const prepare = async ({ server }: TestServer, fields: Readonly<Record<string, string>>) => {
  const request = formRequest(fields, { as: 'app' })
  const form = server.parseForm(request)
  return { form, request, proven: await server.authenticate(form, request) }
}

t.test('a client is authenticated by its secret at once, also by a cached slow hash', async t => {
  const { server } = await start(t)
  const authenticate = (as: string) => {
    const request = formRequest({}, { as })
    return server.authenticate(server.parseForm(request), request)
  }

  t.notOk(authenticate('app') instanceof Promise)
  t.notOk(authenticate('made') instanceof Promise)
  t.ok(authenticate('slow') instanceof Promise, 'the first check of a slow hash is asynchronous')
  await authenticate('slow')
  t.notOk(authenticate('slow') instanceof Promise)
})

t.test('a client with credentials in the query is authenticated at once', async t => {
  const { server } = await start(t)
  const request = formRequest({}, { request: { query: 'client_id=app&client_secret=app-secret' } })

  t.notOk(server.authenticateQuery(request) instanceof Promise)
})

t.test("a machine's JWT is issued at once", async t => {
  const running = await start(t)
  const { form, request, proven } = await prepare(running, { grant_type: 'client_credentials' })

  t.notOk(running.server.token(form, proven, request) instanceof Promise)
})

t.test('a text that cannot be a token is inactive at once', async t => {
  const running = await start(t)

  for (const token of ['x', 'no token', 'a.b.c', `${'A'.repeat(22)}.${'B'.repeat(22)}.${'C'.repeat(86)}`]) {
    const { form, request, proven } = await prepare(running, { token })
    const reply = running.server.introspect(form, proven, request)
    t.notOk(reply instanceof Promise, token)
    t.match(reply, { body: { active: false } }, token)
  }
})
