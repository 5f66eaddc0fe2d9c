import { createPublicKey } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import t from 'tap'
import { createIssuer, issuerName } from './issuer.ts'

t.test('a token says what it was issued for, and is signed by ES256 with the issuer’s own key', async t => {
  const [issuer, other] = [createIssuer(), createIssuer()]

  const token = issuer.issue({ client_id: 'load-1', scope: 'accounts:read' })

  const { payload } = await jwtVerify(token, createPublicKey(issuer.publicKey), {
    issuer: issuerName,
    audience: issuerName,
    typ: 'at+jwt',
    algorithms: ['ES256'],
  })
  t.match(payload, { client_id: 'load-1', scope: 'accounts:read' })
  await t.rejects(jwtVerify(token, createPublicKey(other.publicKey)), { code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' })
})

t.test(
  'it has the members of an access token of ours (RFC 9068), and what is given takes the place of the usual',
  async t => {
    const token = createIssuer().issue({ sub: 'load-1', client_id: 'load-1', scope: 'accounts:read', exp: 1 })

    t.same(Object.keys(decodeProtectedHeader(token)), ['alg', 'typ', 'kid'])
    t.same(Object.keys(decodeJwt(token)).toSorted(), [
      'aud',
      'client_id',
      'exp',
      'iat',
      'iss',
      'jti',
      'nbf',
      'scope',
      'sub',
    ])
    t.equal(decodeJwt(token).exp, 1)
  },
)
