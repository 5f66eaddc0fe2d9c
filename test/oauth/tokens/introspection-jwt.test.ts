import { createLocalJWKSet, jwtVerify } from 'jose'
import t from 'tap'
import { signingAlgs } from '../../../src/oauth/protocol.ts'
import { wantsIntrospectionJwt } from '../../../src/oauth/tokens/introspection-jwt.ts'
import { client, issuer, startServer, type TestServer } from '../support/authorization-server.ts'

const signedType = 'application/token-introspection+jwt'

const issue = async ({ token }: TestServer, as = 'app'): Promise<string> =>
  String((await token({ grant_type: 'client_credentials' }, { as })).body.access_token)

const ask = (server: TestServer, token: string, as: string, accept: string = signedType) => {
  const authorization = [`Basic ${Buffer.from(`${as}:${as}-secret`).toString('base64')}`]
  return server.introspect({ token }, { request: { authorization, accept } })
}

const verify = ({ deps }: TestServer, jwt: unknown, audience: string) => {
  const keys = createLocalJWKSet({ keys: deps.keys.publicJwks().keys.map(key => ({ ...key })) })
  return jwtVerify(String(jwt), keys, { issuer, audience, currentDate: new Date(deps.clock.nowMs()) })
}

t.test(
  'a caller that asks for the JWT gets the members of the JSON, signed for it alone (RFC 9701 section 5; checklist 75)',
  async t => {
    const clients = signingAlgs.map(alg => client(alg, { introspection_signed_response_alg: alg, introspects: 'all' }))
    const server = await startServer(t, { clients: [client('app'), ...clients] })
    const token = await issue(server)
    for (const alg of signingAlgs) {
      const asJson = await ask(server, token, alg, 'application/json')

      const { status, headers, body } = await ask(server, token, alg)

      t.match(
        { status, headers },
        { status: 200, headers: { 'content-type': signedType, 'cache-control': 'no-store' } },
      )
      const { payload, protectedHeader } = await verify(server, body, alg)
      t.match(protectedHeader, { alg, typ: 'token-introspection+jwt' })
      const { clock } = server
      t.same(payload, { iss: issuer, aud: alg, iat: clock.nowMs() / 1000, token_introspection: asJson.body })
      t.match(asJson.body, { active: true, sub: 'app' })
    }
  },
)

t.test(
  'a caller that is not entitled gets {"active":false} in the JWT too (RFC 9701 section 5; checklist 75)',
  async t => {
    const server = await startServer(t)

    for (const token of [await issue(server), 'unknown']) {
      const { body } = await ask(server, token, 'other')

      const { payload } = await verify(server, body, 'other')
      t.same(payload.token_introspection, { active: false })
    }
  },
)

t.test(
  'the JWT of an introspection is refused as an access token (RFC 9701 section 5, RFC 9068 section 4; checklist 75, 88)',
  async t => {
    const server = await startServer(t)
    const token = await issue(server)

    const signed = String((await ask(server, token, 'app')).body)

    t.ok(await verify(server, signed, 'app'), 'though its signature is valid')
    t.same((await server.introspect({ token: signed }, { as: 'app' })).body, { active: false })
    t.equal(await server.server.verifyAccessToken(signed), undefined)
    t.ok(await server.server.verifyAccessToken(token))
  },
)

t.test('refusals are always JSON (RFC 9701 section 5; checklist 75)', async t => {
  const { introspect } = await startServer(t)

  const refusal = await introspect({ token: 'x' }, { request: { authorization: [], accept: signedType } })

  t.match(refusal, { status: 401, body: { error: 'invalid_client' } })
})

t.test('a caller gets the JWT if it names the type and does not prefer JSON (RFC 9701 section 5; checklist 75)', t => {
  const jwt = [
    signedType,
    'Application/Token-Introspection+JWT',
    `${signedType};q=0.5`,
    `${signedType}, application/json`,
    `application/json;q=0.9, ${signedType}`,
    `text/html, ${signedType} ; q=0.8, */*;q=0.8`,
  ]
  const json = [
    undefined,
    '',
    'application/json',
    '*/*',
    'application/*',
    'application/jwt',
    `${signedType};q=0`,
    `${signedType};q=0, */*`,
    `${signedType};q=x`,
    `${signedType};q=0.8, application/json`,
    `${signedType};q=0.8, */*`,
    `${signedType}x`,
  ]

  for (const accept of jwt) t.equal(wantsIntrospectionJwt(accept), true, String(accept))
  for (const accept of json) t.equal(wantsIntrospectionJwt(accept), false, String(accept))
  t.end()
})
