import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import t, { type Test } from 'tap'
import { OAuthError } from '../../../src/errors.ts'
import {
  type ProvenRequest,
  proofAlgs,
  readProof,
  requireSignature,
} from '../../../src/oauth/sender-constraint/dpop-proof.ts'
import { rsaJwk } from '../../support/rsa-jwk.ts'
import { bareJwk, type Members, newKey, signJws, type TestKey, unsignedJws } from '../fapi/support/jws.ts'
import { newProof, type ProofTwist } from '../support/proofs.ts'

const origin = 'https://as.example'
const uri = `${origin}/token`
const nowMs = 1_800_000_000_000
const nowSec = nowMs / 1000
const key = newKey('ES256')
const stranger = newKey('ES256')

const proof = (twist: ProofTwist = {}, signer: TestKey = key): string => newProof(signer, { uri, nowMs }, twist)

/** The claims of a proof that is right in everything except state. */
const verifyProof = async (request: ProvenRequest) => {
  const read = readProof(request, origin, nowMs)
  requireSignature(read)
  return read
}

const verify = (...dpop: readonly string[]) => verifyProof({ dpop, method: 'POST', path: '/token' })

const isRefused = async (t: Test, dpop: readonly string[], name: string): Promise<void> => {
  const error = await verify(...dpop).then(
    () => undefined,
    (error: unknown) => error,
  )
  t.ok(error instanceof OAuthError, name)
  t.match(error, { code: 'invalid_dpop_proof', status: 400 }, name)
  t.match(
    (error as OAuthError).message,
    /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/,
    'only the characters that error_description allows',
  )
}

t.test(
  'a right proof returns the thumbprint of its key, with each algorithm (RFC 9449 section 4.3; checklist 91)',
  async t => {
    for (const alg of proofAlgs) {
      const signer = newKey(alg)
      const jti = randomUUID()

      const proven = await verify(proof({ claims: { jti, nonce: 'a-nonce' } }, signer))

      const jkt = await calculateJwkThumbprint(bareJwk(signer))
      t.match(proven, { jkt, jti, iatSec: nowSec, nonce: 'a-nonce' }, alg)
    }
  },
)

t.test('a proof may have other members (RFC 9449 section 4.3; checklist 91)', async t => {
  const accepted: Readonly<Record<string, ProofTwist>> = {
    'htu with a query and a fragment': { claims: { htu: `${uri}?a=b#c` } },
    'iat ten seconds ahead': { claims: { iat: nowSec + 10 } },
    'iat a minute ago': { claims: { iat: nowSec - 59 } },
    'nbf a moment ahead': { claims: { nbf: nowSec + 8 } },
    'exp to come': { claims: { exp: nowSec + 1 } },
    'typ in capitals': { header: { typ: 'DPOP+JWT' } },
    'a key with a name': { header: { jwk: key.publicJwk } },
    'unknown members': { header: { odd: 1 }, claims: { odd: 2 } },
  }
  for (const [name, twist] of Object.entries(accepted)) await t.resolves(verify(proof(twist)), name)
})

t.test('every fault of a proof is an invalid_dpop_proof (RFC 9449 section 4.3; checklist 91)', async t => {
  const privateJwk = key.privateKey.export({ format: 'jwk' }) as Members
  const refused: Readonly<Record<string, ProofTwist>> = {
    'typ missing': { header: { typ: undefined } },
    'typ of an access token': { header: { typ: 'at+jwt' } },
    'alg missing': { header: { alg: undefined } },
    'alg none': { header: { alg: 'none' } },
    'alg symmetric': { header: { alg: 'HS256' } },
    'alg that another key has': { header: { alg: 'PS256' } },
    'crit unknown': { header: { crit: ['odd'], odd: 1 } },
    'jwk missing': { header: { jwk: undefined } },
    'jwk no object': { header: { jwk: 'key' } },
    'jwk empty': { header: { jwk: {} } },
    'jwk private': { header: { jwk: privateJwk } },
    'jwk with a private member of another kind': { header: { jwk: { ...bareJwk(key), k: 'c2VjcmV0' } } },
    'jwk symmetric': { header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } } },
    'jwk for another algorithm': { header: { jwk: { ...bareJwk(key), alg: 'EdDSA' } } },
    'jwk whose key_ops is a text': { header: { jwk: { ...bareJwk(key), key_ops: 'verify' } } },
    'jwk whose key_ops has no text': { header: { jwk: { ...bareJwk(key), key_ops: ['verify', 1] } } },
    'jwk whose key_ops is empty': { header: { jwk: { ...bareJwk(key), key_ops: [] } } },
    'jwk that only signs': { header: { jwk: { ...bareJwk(key), key_ops: ['sign'] } } },
    'jwk for encryption': { header: { jwk: { ...bareJwk(key), use: 'enc' } } },
    'jwk of another key': { header: { jwk: bareJwk(stranger) } },
    'jwk off its curve': { header: { jwk: { ...bareJwk(key), x: bareJwk(key).y } } },
    'jti missing': { claims: { jti: undefined } },
    'jti empty': { claims: { jti: '' } },
    'jti no text': { claims: { jti: 7 } },
    'htm missing': { claims: { htm: undefined } },
    'htm of another method': { claims: { htm: 'GET' } },
    'htm in lower case': { claims: { htm: 'post' } },
    'htu missing': { claims: { htu: undefined } },
    'htu of another path': { claims: { htu: `${uri}s` } },
    'htu of another origin': { claims: { htu: 'https://bs.example/token' } },
    'htu without an origin': { claims: { htu: '/token' } },
    'iat missing': { claims: { iat: undefined } },
    'iat no number': { claims: { iat: String(nowSec) } },
    'iat eleven seconds ahead': { claims: { iat: nowSec + 11 } },
    'iat sixty seconds ago': { claims: { iat: nowSec - 60 } },
    'nbf a minute ahead': { claims: { nbf: nowSec + 60 } },
    'exp past': { claims: { exp: nowSec - 60 } },
    'nonce no text': { claims: { nonce: 7 } },
  }
  for (const [name, twist] of Object.entries(refused)) await isRefused(t, [proof(twist)], name)
})

t.test(
  'a text that is not a proof, and more than one proof, are an invalid_dpop_proof (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const right = proof()
    const broken = right.slice(0, -10) + (right.at(-10) === 'A' ? 'B' : 'A') + right.slice(-9)
    const claims = { jti: randomUUID(), htm: 'POST', htu: uri, iat: nowSec }

    await isRefused(t, [], 'none')
    await isRefused(t, [right, proof()], 'two')
    await isRefused(t, [`${right},${proof()}`], 'two in one field')
    await isRefused(t, [`${right}, ${proof()}`], 'two in one field, with a blank')
    for (const text of ['', 'x', 'a.b', 'a.b.c', '..', `${right}.`, 'é.é.é']) await isRefused(t, [text], text)
    await isRefused(t, [broken], 'a broken signature')
    await isRefused(t, [unsignedJws({ typ: 'dpop+jwt', jwk: bareJwk(key) }, claims)], 'no signature')
    await isRefused(t, [proof({ claims: { filler: 'x'.repeat(4096) } })], 'too long')
    await t.resolves(verify(right))
  },
)

t.test(
  'keys that are too weak, or of an unsupported algorithm, are refused (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const weak: TestKey = {
      alg: 'PS256',
      kid: 'weak',
      privateKey: short.privateKey,
      publicJwk: short.publicKey.export({ format: 'jwk' }),
    }
    const claims = { jti: randomUUID(), htm: 'POST', htu: uri, iat: nowSec }

    await isRefused(t, [proof({}, weak)], 'RSA with 1024 bits')
    await isRefused(t, [proof({}, newKey('RS256'))], 'RS256')
    await isRefused(t, [proof({ header: { jwk: rsaJwk(4104) } }, newKey('PS256'))], 'RSA with more than 4096 bits')
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    const jwk = publicKey.export({ format: 'jwk' })
    const odd = signJws({ typ: 'dpop+jwt', alg: 'ES256', jwk }, claims, { ...key, privateKey })
    await isRefused(t, [odd], 'ES256 with P-384')
  },
)

t.test(
  'at a protected resource a proof is for one access token and its key (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const jkt = await calculateJwkThumbprint(bareJwk(key))
    const path = '/accounts/1'
    const token = { text: 'an-access-token', jkt }
    const proofOf = (text: string, signer = key) =>
      newProof(signer, { method: 'GET', uri: origin + path, nowMs, token: text })
    const verifyAt = (dpop: string, expected = token) =>
      verifyProof({ dpop: [dpop], method: 'GET', path, token: expected })
    const refusal = { code: 'invalid_dpop_proof' }

    t.match(await verifyAt(proofOf('an-access-token')), { jkt })
    await t.rejects(verifyAt(proofOf('another-access-token')), refusal, 'ath of another token')
    await t.rejects(verifyAt(newProof(key, { method: 'GET', uri: origin + path, nowMs })), refusal, 'ath missing')
    await t.rejects(verifyAt(proofOf('an-access-token', stranger)), refusal, 'another key')
  },
)

t.test('a kty that is an inherited member of every object is refused like an unknown one', async t => {
  for (const kty of ['constructor', '__proto__', 'toString', 'hasOwnProperty', ['EC'], { EC: 1 }, 7, null]) {
    await isRefused(t, [proof({ header: { jwk: { ...bareJwk(key), kty } } })], `kty ${JSON.stringify(kty)}`)
  }
})

t.test('a member that the key only inherits does not count', async t => {
  const inherited = JSON.parse(`{"kty":"EC","__proto__":${JSON.stringify(bareJwk(key))}}`)

  await isRefused(t, [proof({ header: { jwk: inherited } })], 'a key below __proto__')
})
