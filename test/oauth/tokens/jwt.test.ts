import { createHmac, createPublicKey } from 'node:crypto'
import { createLocalJWKSet, jwtVerify } from 'jose'
import t from 'tap'
import { type SigningAlg, signingAlgs } from '../../../src/oauth/protocol.ts'
import { signJwt, verifyJwt } from '../../../src/oauth/tokens/jwt.ts'
import { client, issuer, startServer } from '../support/authorization-server.ts'

/** With a client of each algorithm, named after it; all tests share it because RSA keys take long to generate. */
const server = await startServer(t, {
  clients: signingAlgs.map(alg => client(alg, { access_token_signed_response_alg: alg })),
})

const issue = async (as: SigningAlg): Promise<string> =>
  String((await server.token({ grant_type: 'client_credentials' }, { as })).body.access_token)

const encode = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

t.test(
  'an access token is signed with its client’s algorithm, and accepted at every endpoint (RFC 9068 section 4; checklist 88)',
  async t => {
    const keys = createLocalJWKSet({ keys: server.deps.keys.publicJwks().keys.map(key => ({ ...key })) })
    for (const alg of signingAlgs) {
      const token = await issue(alg)

      const options = { issuer, typ: 'at+jwt', currentDate: new Date(server.clock.nowMs()) }
      t.equal((await jwtVerify(token, keys, options)).protectedHeader.alg, alg)
      t.match(await server.server.verifyAccessToken(token), { client_id: alg })
      t.match(await server.introspect({ token }, { as: alg }), { body: { active: true } })
    }
  },
)

t.test('a JWT whose header is not that of an access token is refused (RFC 9068 section 4; checklist 88)', async t => {
  const { keys } = server.deps
  for (const alg of signingAlgs) {
    const key = keys.current(alg)
    const good = { alg, typ: 'at+jwt', kid: key.kid }
    const claims = { ...claimsOf(await issue(alg)) }
    const resign = (header: object): string => {
      const text = `${encode(header)}.${encode(claims)}`
      return `${text}.${key.sign(text).toString('base64url')}`
    }
    t.ok(
      await server.server.verifyAccessToken(resign(good)),
      'signed by the right key, so that the header is the only reason',
    )

    const bad = [
      { ...good, typ: 'JWT' }, // an id_token
      { ...good, typ: 'AT+JWT' },
      { ...good, typ: 'application/at+jwt' },
      { ...good, typ: 'token-introspection+jwt' },
      { alg, kid: key.kid },
      { ...good, crit: ['exp'] },
      { ...good, crit: [] },
      { ...good, b64: false },
      { ...good, jwk: key.publicJwk },
      { ...good, kid: 'unknown' },
      { alg, typ: 'at+jwt' },
      { ...good, alg: 'none' },
      { ...good, alg: 'HS256' },
      ...signingAlgs.filter(other => other !== alg).map(other => ({ ...good, alg: other })),
    ]
    for (const header of bad) {
      t.equal(await server.server.verifyAccessToken(resign(header)), undefined, JSON.stringify(header))
    }
  }
})

t.test(
  'a missing signature, and an HMAC with the public key as its secret, are refused (RFC 9068 section 4; checklist 88)',
  async t => {
    for (const alg of signingAlgs) {
      const { kid, publicJwk } = server.deps.keys.current(alg)
      const claims = encode(claimsOf(await issue(alg)))
      const pem = createPublicKey({ key: { ...publicJwk }, format: 'jwk' }).export({ format: 'pem', type: 'spki' })
      const withSecret = (header: object, secret: string | Buffer): string => {
        const text = `${encode(header)}.${claims}`
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
      }

      const forged = [
        `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${claims}.`,
        `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${claims}.${'A'.repeat(86)}`,
        withSecret({ alg: 'HS256', typ: 'at+jwt', kid }, pem),
        withSecret({ alg, typ: 'at+jwt', kid }, pem),
        withSecret({ alg: 'HS256', typ: 'at+jwt', kid }, JSON.stringify(publicJwk)),
      ]
      for (const token of forged) t.equal(await server.server.verifyAccessToken(token), undefined, alg)
    }
  },
)

t.test('a token has one encoding: no other text of the same signature is accepted', async t => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const alg of signingAlgs) {
    const token = await issue(alg)
    const next = alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1] ?? ''
    const respelled = `${token.slice(0, -1)}${next}`
    const signatureOf = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url').toString('hex')
    t.equal(signatureOf(respelled), signatureOf(token), 'it has spare bits')

    t.equal(await server.server.verifyAccessToken(respelled), undefined, alg)
    t.equal(await server.server.verifyAccessToken(`${token}=`), undefined)
    t.equal(await server.server.verifyAccessToken(`${token}A`), undefined)
  }
})

t.test('one changed character anywhere makes a token invalid', async t => {
  for (const alg of signingAlgs) {
    const token = await issue(alg)
    for (const part of token.split('.')) {
      const at = token.indexOf(part) + Math.floor(part.length / 2)
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
      t.equal(await server.server.verifyAccessToken(changed), undefined, alg)
    }
  }
})

t.test('a token without a user has its client as subject (RFC 9068 section 2.2; checklist 89)', async t => {
  const claims = claimsOf(await issue('ES256'))

  t.match(claims, { sub: 'ES256', client_id: 'ES256' })
  t.notOk('username' in claims)
})

t.test('a JWT of one kind does not verify as another', async t => {
  const { deps } = server
  const token = signJwt(deps.keys.current('ES256'), 'token-introspection+jwt', { iss: issuer })

  t.match(verifyJwt(token, 'token-introspection+jwt', deps.keys), { iss: issuer })
  t.equal(verifyJwt(token, 'at+jwt', deps.keys), undefined)
})
