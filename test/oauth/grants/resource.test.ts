import t, { type Test } from 'tap'
import { startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const everything = 'https://api.example'
const accounts = 'https://api.example/accounts'
const refused = { status: 400, body: { error: 'invalid_target' } }

type Fields = Readonly<Record<string, string>>

/** A server, and the redemptions of a client with a code for these resources. */
const start = async (t: Test, format: 'jwt' | 'opaque', resource: readonly string[]) => {
  const server = await startServer(t, { accessToken: { format, lifetimeSec: 600, alg: 'ES256' } })
  const code = await server.makeCode('spa', { resource })
  const ask = (fields: Fields) => server.token({ client_id: 'spa', ...fields }, {})
  return {
    ...server,
    redeem: (more: Fields = {}) => ask({ grant_type: 'authorization_code', code, code_verifier: verifier, ...more }),
    refresh: (refresh_token: unknown, more: Fields = {}) =>
      ask({ grant_type: 'refresh_token', refresh_token: String(refresh_token), ...more }),
  }
}

const audienceOf = async ({ server }: TestServer, token: unknown): Promise<unknown> =>
  (await server.verifyAccessToken(String(token)))?.aud

for (const format of ['jwt', 'opaque'] as const) {
  t.test(
    `a token is for the granted resources, or for the requested part (${format}) (RFC 8707 section 2; checklist 66)`,
    async t => {
      const server = await start(t, format, [everything, accounts])

      const first = await server.redeem()
      const second = await server.refresh(first.body.refresh_token, { resource: accounts })
      const third = await server.refresh(second.body.refresh_token)

      t.same(await audienceOf(server, first.body.access_token), [everything, accounts])
      t.equal(await audienceOf(server, second.body.access_token), accounts)
      t.same(await audienceOf(server, third.body.access_token), [everything, accounts])
    },
  )

  t.test(
    `a resource outside the grant spends neither code nor refresh token (${format}) (RFC 8707 section 2; checklist 66)`,
    async t => {
      const server = await start(t, format, [accounts])
      const { redeem, refresh, clock } = server

      t.match(await redeem({ resource: everything }), refused)
      const first = await redeem({ resource: accounts })
      t.match(first, { status: 200 })

      t.match(await refresh(first.body.refresh_token, { resource: everything }), refused)
      clock.advanceSec(60)
      const second = await refresh(first.body.refresh_token)
      t.match(second, { status: 200 }, 'the refresh token was not rotated')
      t.equal(await audienceOf(server, second.body.access_token), accounts)
    },
  )

  t.test(
    `without a granted resource the token is for the issuer, and for any requested one (${format}) (RFC 8707 section 2; checklist 66)`,
    async t => {
      const server = await start(t, format, [])

      const first = await server.redeem()
      const second = await server.refresh(first.body.refresh_token, { resource: accounts })

      t.equal(await audienceOf(server, first.body.access_token), 'https://auth.example')
      t.equal(await audienceOf(server, second.body.access_token), accounts)
    },
  )
}
