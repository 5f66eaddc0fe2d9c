import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import t, { type Test } from 'tap'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import {
  type Answer,
  basic,
  client,
  issuer,
  type OptionChanges,
  startServer,
  type TestServer,
} from '../support/authorization-server.ts'
import {
  assertionClaims,
  assertionFields,
  type ClientKey,
  createClientKey,
  jwtBearer,
  type Members,
  registered,
} from '../support/client-keys.ts'

const grant = { grant_type: 'client_credentials' }
const invalidClient = { status: 401, body: { error: 'invalid_client' } }

/** A client that authenticates only with this key. */
const jwtClient = (client_id: string, key: ClientKey, changes: Partial<ClientRegistration> = {}): ClientRegistration =>
  client(client_id, { token_endpoint_auth_method: 'private_key_jwt', secrets: [], keys: registered(key), ...changes })

const es256 = await createClientKey('ES256')
const rs256 = await createClientKey('RS256')

interface Told {
  readonly claims?: Members
  readonly header?: Members
  readonly key?: ClientKey
  readonly client_id?: string
  readonly path?: string
}

/** The server with these clients, and its response to an assertion with one change. */
const start = async (t: Test, clients: readonly ClientRegistration[], changes: OptionChanges = {}) => {
  const server = await startServer(t, { clients, ...changes })
  const tell = async ({
    claims,
    header,
    key = es256,
    client_id = 'jwt',
    path = '/token',
  }: Told = {}): Promise<Answer> => {
    const whole = { ...assertionClaims(client_id, issuer, server.clock.nowMs()), ...claims }
    return sendTo(server, await key.sign(whole, header), path)
  }
  return { ...server, tell, nowSec: Math.floor(server.clock.nowMs() / 1000) }
}

const sendTo = ({ token }: TestServer, assertion: string, path = '/token'): Promise<Answer> =>
  token({ ...grant, ...assertionFields(assertion) }, { request: { path } })

for (const alg of ['ES256', 'PS256', 'EdDSA'] as const) {
  t.test(
    `an assertion that is signed with the client's key is accepted (${alg}) (RFC 7523 section 3; checklist 22)`,
    async t => {
      const key = await createClientKey(alg)
      const { tell } = await start(t, [jwtClient('jwt', key)])
      const other = await createClientKey(alg)

      t.match(await tell({ key }), { status: 200 })
      t.match(await tell({ key: other }), invalidClient, 'one signed with another key is not')
    },
  )
}

t.test('issuer and subject of an assertion are the client (RFC 7523 section 3; checklist 22)', async t => {
  const { tell } = await start(t, [jwtClient('jwt', es256), jwtClient('jwt2', es256)])

  t.match(await tell(), { status: 200 })
  for (const claims of [
    { iss: 'jwt2' },
    { sub: 'jwt2' },
    { iss: undefined },
    { sub: undefined },
    { iss: 'JWT' },
    { iss: issuer },
    { sub: ['jwt'] },
  ]) {
    t.match(await tell({ claims }), invalidClient, JSON.stringify(claims))
  }
})

t.test('the audience is exactly the issuer as one string (RFC 7523 section 3; checklist 22)', async t => {
  const { tell } = await start(t, [jwtClient('jwt', es256)])

  for (const aud of [[issuer], `${issuer}/`, `${issuer}/token`, `${issuer}/par`, issuer.toUpperCase(), '', undefined]) {
    t.match(await tell({ claims: { aud } }), invalidClient, JSON.stringify(aud))
  }
})

t.test('an older client may name the called endpoint or the token endpoint', async t => {
  const lenient = { assertion_audience: 'endpoint' } as const
  const clients = [jwtClient('jwt', es256, lenient), jwtClient('strict', es256, { ...lenient, profile: 'fapi2' })]
  const { tell } = await start(t, clients)
  const ask = (aud: unknown, client_id = 'jwt') => tell({ claims: { aud }, client_id, path: '/v1/token' })

  t.match(await ask(`${issuer}/v1/token`), { status: 200 })
  t.match(await ask(`${issuer}/token`), { status: 200 })
  t.match(await ask(issuer), { status: 200 })
  t.match(await ask(`${issuer}/v2/token`), invalidClient)
  t.match(await ask([`${issuer}/token`]), invalidClient, 'still as one string')
  t.match(await ask(`${issuer}/token`, 'strict'), invalidClient, 'and never under FAPI 2.0')
})

t.test(
  'exp is required, at most ten seconds past and at most an hour ahead (RFC 7523 section 3; checklist 22)',
  async t => {
    const { tell, nowSec } = await start(t, [jwtClient('jwt', es256)])

    for (const exp of [nowSec + 1, nowSec - 9, nowSec + 3600]) {
      t.match(await tell({ claims: { exp } }), { status: 200 }, `${exp - nowSec} s`)
    }
    for (const exp of [undefined, nowSec - 10, nowSec + 3700, String(nowSec + 60), Number.MAX_VALUE]) {
      t.match(await tell({ claims: { exp } }), invalidClient, JSON.stringify(exp))
    }
  },
)

for (const claim of ['iat', 'nbf'] as const) {
  t.test(
    `an assertion may be up to ten seconds ahead, and not more than sixty (${claim}) (RFC 7523 section 3; checklist 22)`,
    async t => {
      const { tell, nowSec } = await start(t, [jwtClient('jwt', es256)])

      for (const ahead of [0, 8, 10]) {
        t.match(await tell({ claims: { [claim]: nowSec + ahead } }), { status: 200 }, `${ahead} s`)
      }
      for (const wrong of [nowSec + 61, nowSec + 3600, String(nowSec)]) {
        t.match(await tell({ claims: { [claim]: wrong } }), invalidClient, JSON.stringify(wrong))
      }
    },
  )
}

t.test(
  'a jti is required and used once, until the assertion has expired (RFC 7523 section 3; checklist 22)',
  async t => {
    const { tell, clock } = await start(t, [jwtClient('jwt', es256), jwtClient('other', es256)])
    const claims = assertionClaims('jwt', issuer, clock.nowMs())

    t.match(await tell({ claims }), { status: 200 })
    t.match(await tell({ claims }), invalidClient, 'a second use')
    t.match(await tell({ claims: { jti: claims.jti, nbf: 1 } }), invalidClient, 'in another assertion too')
    t.match(
      await tell({ claims: { jti: claims.jti }, client_id: 'other' }),
      { status: 200 },
      'another client has its own',
    )
    clock.advanceSec(69)
    t.match(await tell({ claims }), invalidClient, 'until its expiry')
    for (const jti of [undefined, '', 7]) t.match(await tell({ claims: { jti } }), invalidClient, String(jti))
    t.match(await tell({ claims: { jti: 'long'.repeat(5000) } }), { status: 200 })
    t.match(await tell({ claims: { jti: 'long'.repeat(5000) } }), invalidClient)
  },
)

t.test(
  'an assertion that was used at one endpoint is refused at every endpoint (RFC 7523 section 3; checklist 22)',
  async t => {
    const { token, revoke, clock } = await start(t, [jwtClient('jwt', es256)])
    const fields = assertionFields(await es256.sign(assertionClaims('jwt', issuer, clock.nowMs())))

    t.match(await revoke({ token: 'unknown', ...fields }, {}), { status: 200 })
    t.match(await token({ ...grant, ...fields }, {}), invalidClient)
  },
)

t.test('only the registered algorithm is accepted (RFC 7523 section 3; checklist 22)', async t => {
  const both = { keys: registered(es256, { ...rs256, publicJwk: { ...rs256.publicJwk, kid: 'rsa' } }) }
  const clients = [
    jwtClient('any', es256, both),
    jwtClient('pinned', es256, { ...both, token_endpoint_auth_signing_alg: 'RS256' }),
    jwtClient('fapi', es256, { ...both, token_endpoint_auth_signing_alg: 'RS256', profile: 'fapi2' }),
  ]
  const { tell } = await start(t, clients)
  const rsa = (client_id: string) => tell({ key: rs256, header: { kid: 'rsa' }, client_id })

  t.match(await rsa('pinned'), { status: 200 }, 'RS256 by name')
  t.match(await rsa('any'), invalidClient, 'RS256 without a name')
  t.match(await rsa('fapi'), invalidClient, 'RS256 under FAPI 2.0')
  t.match(await tell({ client_id: 'any' }), { status: 200 })
  t.match(await tell({ client_id: 'pinned' }), invalidClient, 'another than the registered one')
})

t.test('RS256 is refused if the whole server uses the profile FAPI 2.0 (RFC 7523 section 3; checklist 22)', async t => {
  const old = jwtClient('jwt', rs256, { token_endpoint_auth_signing_alg: 'RS256' })

  t.match(await (await start(t, [old])).tell({ key: rs256 }), { status: 200 })
  t.match(await (await start(t, [old], { profile: 'fapi2' })).tell({ key: rs256 }), invalidClient)
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

t.test(
  'a missing signature, and an HMAC with the public key as its secret, are refused (RFC 7523 section 3; checklist 22)',
  async t => {
    const server = await start(t, [jwtClient('jwt', es256), jwtClient('old', rs256)])
    const claims = (client_id: string) => encode(assertionClaims(client_id, issuer, server.clock.nowMs()))
    const publicTexts = [
      rs256.publicKey.export({ type: 'spki', format: 'pem' }),
      rs256.publicKey.export({ type: 'spki', format: 'der' }),
      JSON.stringify(rs256.publicJwk),
    ]

    for (const alg of ['none', 'None', 'NONE', '', undefined]) {
      t.match(await sendTo(server, `${encode({ alg, kid: es256.kid })}.${claims('jwt')}.`), invalidClient, String(alg))
    }
    for (const secret of publicTexts) {
      const signed = `${encode({ alg: 'HS256', kid: rs256.kid })}.${claims('old')}`
      const mac = createHmac('sha256', secret).update(signed).digest('base64url')
      t.match(await sendTo(server, `${signed}.${mac}`), invalidClient)
    }
  },
)

t.test('a key in the header is ignored (RFC 7523 section 3; checklist 22)', async t => {
  const { tell } = await start(t, [jwtClient('jwt', es256)])
  const foreign = await createClientKey('ES256')
  const jwk = { ...foreign.publicJwk }

  t.match(await tell({ key: foreign, header: { jwk } }), invalidClient)
  t.match(await tell({ key: foreign, header: { jwk, kid: undefined } }), invalidClient)
  t.match(await tell({ key: foreign, header: { jku: 'https://evil.example/jwks' } }), invalidClient)
  t.match(await tell({ header: { jwk, jku: 'https://evil.example/jwks', x5c: ['AA=='] } }), { status: 200 })
})

t.test(
  'an unknown crit is refused, and so is a type of another kind of JWT (RFC 7523 section 3; checklist 22)',
  async t => {
    const server = await start(t, [jwtClient('jwt', es256)])
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const ours = { ...es256, publicKey, publicJwk: { ...publicKey.export({ format: 'jwk' }), kid: 'own' } }
    const critical = await start(t, [jwtClient('jwt', ours)])
    const sent = (header: Readonly<Record<string, unknown>>): string => {
      const signed = `${encode({ alg: 'ES256', ...header })}.${encode(assertionClaims('jwt', issuer, server.clock.nowMs()))}`
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${signed}.${signature.toString('base64url')}`
    }

    t.match(await sendTo(critical, sent({})), { status: 200 })
    t.match(await sendTo(critical, sent({ crit: ['exp'], exp: 1 })), invalidClient)
    t.match(await sendTo(critical, sent({ crit: ['b64'], b64: false })), invalidClient)
    t.match(await sendTo(critical, sent({ crit: [] })), invalidClient)
    for (const typ of ['JWT', 'jwt', 'client-authentication+jwt', 'application/client-authentication+jwt']) {
      t.match(await server.tell({ header: { typ } }), { status: 200 }, typ)
    }
    for (const typ of ['at+jwt', 'dpop+jwt', 'oauth-authz-req+jwt', 'secevent+jwt']) {
      t.match(await server.tell({ header: { typ } }), invalidClient, typ)
    }
  },
)

t.test('a request object is refused as an assertion (RFC 7523 section 3; checklist 22)', async t => {
  const server = await start(t, [jwtClient('jwt', es256)])

  for (const claims of [
    { response_type: 'code' },
    { redirect_uri: 'https://jwt.example/callback' },
    { scope: 'read' },
  ]) {
    t.match(await server.tell({ claims }), invalidClient, JSON.stringify(claims))
  }
  t.match(await server.tell({ claims: { client_id: 'jwt' } }), { status: 200 }, 'a claim that either may have')
})

t.test(
  'a signature has one encoding, and one other bit makes it invalid (RFC 7523 section 3; checklist 22)',
  async t => {
    const server = await start(t, [jwtClient('jwt', es256)])
    const assertion = () => es256.sign(assertionClaims('jwt', issuer, server.clock.nowMs()))
    const changed = [
      (text: string) => `${text}=`,
      (text: string) => `${text}.`,
      (text: string) => `${text} `,
      (text: string) => text.slice(0, -1),
      (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`,
      (text: string) => text.replace('.', '..'),
      (text: string) => text.split('.').slice(0, 2).join('.'),
      () => 'a.b.c',
      () => '..',
    ]

    for (const change of changed)
      t.match(await sendTo(server, change(await assertion())), invalidClient, String(change))
  },
)

t.test('an RSA key of less than 2048 bits is refused (RFC 7523 section 3; checklist 22)', async t => {
  for (const modulusLength of [1024, 2048]) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength })
    const keys = { kind: 'jwks', jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }) }] } } as const
    const server = await start(t, [jwtClient('jwt', es256, { keys, token_endpoint_auth_signing_alg: 'RS256' })])
    const signed = `${encode({ alg: 'RS256' })}.${encode(assertionClaims('jwt', issuer, server.clock.nowMs()))}`
    const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url')

    t.equal((await sendTo(server, `${signed}.${signature}`)).status, modulusLength === 2048 ? 200 : 401)
  }
})

t.test('while a client changes its key both keys are accepted, each with its own kid', async t => {
  const next = await createClientKey('ES256', 'key-2')
  const { tell } = await start(t, [jwtClient('jwt', es256, { keys: registered(es256, next) })])

  t.match(await tell(), { status: 200 })
  t.match(await tell({ key: next }), { status: 200 })
  t.match(await tell({ key: next, header: { kid: undefined } }), { status: 200 }, 'or without a kid')
  t.match(await tell({ key: next, header: { kid: 'key-1' } }), invalidClient)
  t.match(await tell({ key: next, header: { kid: 'key-3' } }), invalidClient)
})

t.test('a key that is registered for another algorithm, or for encryption, is refused', async t => {
  const restricted = (changes: Readonly<Record<string, string>>): ClientRegistration =>
    jwtClient('jwt', { ...es256, publicJwk: { ...es256.publicJwk, ...changes } })

  t.match(await (await start(t, [restricted({ use: 'sig', alg: 'ES256' })])).tell(), { status: 200 })
  t.match(await (await start(t, [restricted({ use: 'enc' })])).tell(), invalidClient)
  t.match(await (await start(t, [restricted({ alg: 'ES384' })])).tell(), invalidClient)
})

t.test(
  'a wrong assertion gets the same response as a wrong secret, whatever its client (RFC 6749 section 5.2, RFC 6749 section 10.10; checklist 13, 18)',
  async t => {
    const { token, tell, nowSec } = await start(t, [jwtClient('jwt', es256), client('app')])
    const wrongSecret = await token(grant, { request: { authorization: [basic('app', 'wrong')] } })

    t.match(wrongSecret, { ...invalidClient, headers: { 'www-authenticate': /^Basic realm="/ } })
    t.same(await tell({ claims: { exp: nowSec - 60 } }), wrongSecret)
    t.same(await tell({ key: await createClientKey('ES256') }), wrongSecret)
    t.same(await tell({ client_id: 'nobody' }), wrongSecret)
    t.same(await tell({ client_id: 'app' }), wrongSecret)
    t.same(await token({ ...grant, ...assertionFields('a.b.c') }, {}), wrongSecret)
  },
)

t.test('a client_id beside an assertion must be the same client (RFC 6749 section 3.2.1; checklist 17)', async t => {
  const { token, clock } = await start(t, [jwtClient('jwt', es256)])
  const ask = async (client_id: string) => {
    const fields = assertionFields(await es256.sign(assertionClaims('jwt', issuer, clock.nowMs())))
    return token({ ...grant, ...fields, client_id }, {})
  }

  t.match(await ask('jwt'), { status: 200 })
  t.match(await ask('jwt2'), { status: 400, body: { error: 'invalid_request' } })
})

t.test('an assertion without client_assertion_type, or with another one, is refused', async t => {
  const { token, clock } = await start(t, [jwtClient('jwt', es256)])
  const assertion = () => es256.sign(assertionClaims('jwt', issuer, clock.nowMs()))

  t.match(await token({ ...grant, client_assertion: await assertion() }, {}), invalidClient)
  t.match(await token({ ...grant, client_assertion_type: jwtBearer, client_id: 'jwt' }, {}), invalidClient)
  for (const client_assertion_type of [`${jwtBearer}s`, 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer']) {
    const fields = { client_assertion_type, client_assertion: await assertion() }
    t.match(await token({ ...grant, ...fields }, {}), invalidClient, client_assertion_type)
  }
})

t.test(
  'after ten wrong assertions only this client at this address is refused (RFC 6749 section 2.3.1; checklist 24)',
  async t => {
    const { tell, clock } = await start(t, [jwtClient('jwt', es256), jwtClient('other', es256)])
    const key = await createClientKey('ES256')

    for (let i = 0; i < 10; i++) t.match(await tell({ key }), invalidClient)

    const refusal = { status: 429, headers: { 'retry-after': '60' }, body: { error: 'rate_limit_exceeded' } }
    t.match(await tell({ key }), refusal)
    t.match(await tell(), refusal, 'the right key too')
    t.match(await tell({ client_id: 'other' }), { status: 200 })
    clock.advanceSec(60)
    t.match(await tell(), { status: 200 }, 'and the wait ends')
  },
)

t.test('an assertion that is used again counts as a wrong one (RFC 6749 section 2.3.1; checklist 24)', async t => {
  const { tell, clock } = await start(t, [jwtClient('jwt', es256)])
  const claims = assertionClaims('jwt', issuer, clock.nowMs())
  t.match(await tell({ claims }), { status: 200 })

  for (let i = 0; i < 10; i++) t.match(await tell({ claims }), invalidClient)

  t.match(await tell({ claims }), { status: 429 })
  t.match(await tell({ claims: { jti: randomUUID() } }), { status: 429 })
})
