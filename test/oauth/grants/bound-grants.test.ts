import t, { type Test } from 'tap'
import type { OAuthRequest } from '../../../src/oauth/protocol.ts'
import { createCertificates } from '../../support/certificates.ts'
import {
  type Answer,
  client,
  type OptionChanges,
  publicClient,
  startServer,
  type TestServer,
  verifier,
} from '../support/authorization-server.ts'
import { newKeyHolder, toCertificateHolder } from '../support/holder.ts'

const optional = { dpop: { nonce: 'optional' } } as const
const refusal = { status: 400, body: { error: 'invalid_grant' } }
const certificates = createCertificates(t)

const start = (t: Test, changes: OptionChanges = {}): Promise<TestServer> => startServer(t, { ...optional, ...changes })

const identified = (client_id: string) =>
  client_id === 'spa' ? { fields: { client_id }, as: {} } : { fields: {}, as: { as: client_id } }

const redeem = (
  { token }: TestServer,
  client_id: string,
  code: string,
  request: Partial<OAuthRequest> = {},
): Promise<Answer> => {
  const { fields, as } = identified(client_id)
  return token({ grant_type: 'authorization_code', code, code_verifier: verifier, ...fields }, { ...as, request })
}

const refresh = (
  { token }: TestServer,
  client_id: string,
  refresh_token: unknown,
  request: Partial<OAuthRequest> = {},
): Promise<Answer> => {
  const { fields, as } = identified(client_id)
  return token({ grant_type: 'refresh_token', refresh_token: String(refresh_token), ...fields }, { ...as, request })
}

t.test('a code that is bound to a key is redeemed only with that key (RFC 9449 section 10)', async t => {
  const server = await start(t)
  const [owner, thief] = [await newKeyHolder(), await newKeyHolder()]
  const code = await server.makeCode('app', { dpop_jkt: owner.jkt })

  t.match(await redeem(server, 'app', code), refusal, 'no proof')
  t.match(await redeem(server, 'app', code, thief.prove(server.clock)), refusal, 'another key')
  t.match(await redeem(server, 'app', code, owner.prove(server.clock)), { body: { token_type: 'DPoP' } })
})

t.test('a code without a binding can be redeemed for bound tokens', async t => {
  const server = await start(t)
  const code = await server.makeCode('app')

  t.match(await redeem(server, 'app', code, (await newKeyHolder()).prove(server.clock)), {
    body: { token_type: 'DPoP' },
  })
})

t.test('a wrong proof spends neither code nor refresh token', async t => {
  const server = await start(t)
  const owner = await newKeyHolder()
  const code = await server.makeCode('spa')
  const bad = { dpop: ['a.b.c'] }

  t.match(await redeem(server, 'spa', code, bad), { status: 400, body: { error: 'invalid_dpop_proof' } })
  const { body } = await redeem(server, 'spa', code, owner.prove(server.clock))
  t.match(await refresh(server, 'spa', body.refresh_token, bad), { body: { error: 'invalid_dpop_proof' } })
  server.clock.advanceSec(60)
  t.match(await refresh(server, 'spa', body.refresh_token, owner.prove(server.clock)), { status: 200 })
})

t.test("a public client's refresh token is bound to its DPoP key (RFC 9449 section 5; checklist 85)", async t => {
  const server = await start(t)
  const [owner, thief] = [await newKeyHolder(), await newKeyHolder()]
  const { body } = await redeem(server, 'spa', await server.makeCode('spa'), owner.prove(server.clock))

  t.match(await refresh(server, 'spa', body.refresh_token), refusal, 'no proof')
  t.match(await refresh(server, 'spa', body.refresh_token, thief.prove(server.clock)), refusal, 'another key')
  const refreshed = await refresh(server, 'spa', body.refresh_token, owner.prove(server.clock))
  t.match(refreshed, { status: 200, body: { token_type: 'DPoP' } })
  t.match(await server.server.verifyAccessToken(String(refreshed.body.access_token)), { cnf: { jkt: owner.jkt } })
  t.match(
    await refresh(server, 'spa', refreshed.body.refresh_token, thief.prove(server.clock)),
    refusal,
    'its successor',
  )
})

t.test("a public client's refresh token is bound to its certificate (RFC 9449 section 5; checklist 85)", async t => {
  const spa = { ...publicClient('spa'), tls_client_certificate_bound_access_tokens: true }
  const server = await start(t, { clients: [spa] })
  const [owner, thief] = [certificates.client, certificates.selfSigned].map(toCertificateHolder)
  const { body } = await redeem(server, 'spa', await server.makeCode('spa'), owner?.request)

  t.match(await refresh(server, 'spa', body.refresh_token), { body: { error: 'invalid_request' } }, 'no certificate')
  t.match(await refresh(server, 'spa', body.refresh_token, thief?.request), refusal, 'another certificate')
  const refreshed = await refresh(server, 'spa', body.refresh_token, owner?.request)
  t.equal(refreshed.status, 200)
  t.match(await server.server.verifyAccessToken(String(refreshed.body.access_token)), {
    cnf: { 'x5t#S256': owner?.thumbprint },
  })
})

t.test(
  "a public client's refresh token is bound to its key and its certificate if it has both (RFC 9449 section 5; checklist 85)",
  async t => {
    const spa = { ...publicClient('spa'), tls_client_certificate_bound_access_tokens: true }
    const server = await start(t, { clients: [spa] })
    const [key, otherKey] = [await newKeyHolder(), await newKeyHolder()]
    const [certificate, otherCertificate] = [certificates.client, certificates.selfSigned].map(toCertificateHolder)
    const hold = (by: typeof key, of = certificate) => ({ ...of?.request, ...by.prove(server.clock) })
    const { body } = await redeem(server, 'spa', await server.makeCode('spa'), hold(key))

    t.match(await refresh(server, 'spa', body.refresh_token, hold(otherKey)), refusal, 'another key')
    t.match(
      await refresh(server, 'spa', body.refresh_token, hold(key, otherCertificate)),
      refusal,
      'another certificate',
    )
    t.match(await refresh(server, 'spa', body.refresh_token, certificate?.request), refusal, 'no proof')
    t.match(
      await refresh(server, 'spa', body.refresh_token, key.prove(server.clock)),
      { status: 400 },
      'no certificate',
    )
    t.match(await refresh(server, 'spa', body.refresh_token, hold(key)), { status: 200, body: { token_type: 'DPoP' } })
  },
)

t.test(
  'a confidential client is bound by its authentication, and may change its key (RFC 9449 section 5; checklist 85)',
  async t => {
    const server = await start(t)
    const [first, second] = [await newKeyHolder(), await newKeyHolder()]
    const { body } = await redeem(server, 'app', await server.makeCode('app'), first.prove(server.clock))

    const refreshed = await refresh(server, 'app', body.refresh_token, second.prove(server.clock))

    t.match(await server.server.verifyAccessToken(String(refreshed.body.access_token)), { cnf: { jkt: second.jkt } })
    t.match(await refresh(server, 'app', body.refresh_token), { body: { token_type: 'Bearer' } })
  },
)

t.test(
  'a client with bound tokens keeps its refresh token, also a public one (RFC 9700 section 2.2.2; checklist 83)',
  async t => {
    const clients = [
      { ...publicClient('spa'), dpop_bound_access_tokens: true },
      client('app', { dpop_bound_access_tokens: true }),
    ]
    const server = await start(t, { clients })
    for (const client_id of ['spa', 'app']) {
      const owner = await newKeyHolder()
      const { body } = await redeem(server, client_id, await server.makeCode(client_id), owner.prove(server.clock))
      for (const waitSec of [0, 60]) {
        server.clock.advanceSec(waitSec)
        const refreshed = await refresh(server, client_id, body.refresh_token, owner.prove(server.clock))
        t.equal(refreshed.status, 200)
        t.notOk('refresh_token' in refreshed.body, client_id)
      }
    }
  },
)

t.test(
  'inside the window one key gets one successor, and another key gets none (RFC 9700 section 4.14.2; checklist 82)',
  async t => {
    const server = await start(t)
    const [owner, thief] = [await newKeyHolder(), await newKeyHolder()]
    const { body } = await redeem(server, 'spa', await server.makeCode('spa'), owner.prove(server.clock))
    const again = () => refresh(server, 'spa', body.refresh_token, owner.prove(server.clock))

    const replies = await Promise.all(Array.from({ length: 20 }, again))

    t.ok(replies.every(({ status }) => status === 200))
    t.equal(new Set(replies.map(reply => reply.body.refresh_token)).size, 1)
    t.match(await refresh(server, 'spa', body.refresh_token, thief.prove(server.clock)), refusal)
    t.match(await refresh(server, 'spa', replies[0]?.body.refresh_token, owner.prove(server.clock)), { status: 200 })
  },
)

t.test('a public client with a key and an unbound refresh token gets a successor', async t => {
  const server = await start(t)
  const { body } = await redeem(server, 'spa', await server.makeCode('spa'))
  const thief = await newKeyHolder()

  const stolen = await refresh(server, 'spa', body.refresh_token, thief.prove(server.clock))

  t.match(stolen, { status: 200, body: { token_type: 'DPoP', refresh_token: String } })
  server.clock.advanceSec(11)
  t.match(await refresh(server, 'spa', body.refresh_token), refusal)
  const successor = await refresh(server, 'spa', stolen.body.refresh_token, thief.prove(server.clock))
  t.match(successor, refusal, 'the reuse was detected')
})
