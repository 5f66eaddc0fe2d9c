import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { startServer, type TestServer } from '../support/authorization-server.ts'

const lifetimeSec = 600
const jwt = { format: 'jwt', lifetimeSec, alg: 'ES256' } as const
const opaque = { ...jwt, format: 'opaque' } as const
const formats = [jwt, opaque]

/** An accepted token, and the check whether it has ended. */
const letIn = async ({ server, token }: TestServer, scope = 'read') => {
  const { body } = await token({ grant_type: 'client_credentials', scope }, { as: 'app' })
  const text = String(body.access_token)
  const record = await server.verifyAccessToken(text)
  if (record === undefined) throw new Error('the token is not good')
  return { text, hasEnded: async () => server.isTokenExpiredOrRevoked(text, record) }
}

t.test('an accepted token ends at its expiry, and not before', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const { hasEnded } = await letIn(server)

    server.clock.advanceSec(lifetimeSec - 1)
    t.equal(await hasEnded(), false, accessToken.format)
    server.clock.advanceSec(1)
    t.equal(await hasEnded(), true, accessToken.format)
  }
})

t.test('an accepted token ends at its revocation, and another one of its client does not', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const [revoked, other] = [await letIn(server), await letIn(server, 'write')]

    await server.revoke({ token: revoked.text }, { as: 'app' })
    server.clock.advanceSec(5)

    await eventually(revoked.hasEnded)
    t.equal(await other.hasEnded(), false, accessToken.format)
  }
})

t.test('the store is called for an opaque token once in five seconds', async t => {
  const server = await startServer(t, { accessToken: opaque })
  const { hasEnded } = await letIn(server)
  let asked = 0
  const { tokens } = server.deps.store
  const find = tokens.find.bind(tokens)
  tokens.find = (...args) => {
    asked += 1
    return find(...args)
  }

  for (let second = 0; second < 15; second++) {
    server.clock.advanceSec(1)
    await hasEnded()
  }

  t.equal(asked, 3)
})
