import t from 'tap'
import { holdsEach } from '../cases.ts'
import { privateJwk, publicJwk } from '../keys.ts'
import { client } from '../support.ts'

const ownKeys = (keys: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): unknown => ({
  keys: { jwks: JSON.stringify({ keys }) },
  ...more,
})
const ec = privateJwk('ES256')
const rsa = privateJwk('PS256')

holdsEach(t, [
  {
    says: 'a key signs for an hour at least',
    refused: { keys: { rotateEvery: '59m' } },
    message: /keys\.rotateEvery: must be a duration in whole seconds, 3600s to/,
    accepted: { keys: { rotateEvery: '1h' } },
  },
  {
    says: 'signing keys are a JWK set',
    refused: { keys: { jwks: JSON.stringify(ec) } },
    message: /^2:9: keys\.jwks: must be a JWK set with at least one key/,
    accepted: ownKeys([ec]),
  },
  {
    says: 'signing keys are private',
    refused: ownKeys([publicJwk('ES256')]),
    message: /^2:9: keys\.jwks: key 1 is not a private key/,
    accepted: ownKeys([ec]),
  },
  {
    says: 'a signing key names its algorithm',
    refused: ownKeys([ec, { ...ec, alg: undefined }]),
    message: /keys\.jwks: key 2 needs alg, one of ES256, PS256, EdDSA, RS256/,
    accepted: ownKeys([ec, privateJwk('ES256')]),
  },
  {
    says: 'the algorithm of a signing key fits its type',
    refused: ownKeys([ec, { ...ec, alg: 'EdDSA' }]),
    message: /keys\.jwks: key 2 cannot sign with EdDSA/,
    accepted: ownKeys([ec, privateJwk('EdDSA')]),
  },
  {
    says: 'there is a key for the algorithm of access tokens',
    refused: ownKeys([ec], { tokens: { accessToken: { alg: 'EdDSA' } } }),
    message: /keys\.jwks: has no key for EdDSA; add one/,
    accepted: ownKeys([privateJwk('EdDSA')], { tokens: { accessToken: { alg: 'EdDSA' } } }),
  },
  {
    says: 'there is a key for the algorithm that a client requests',
    refused: ownKeys([ec], { clients: [client({ introspection_signed_response_alg: 'PS256' })] }),
    message: /keys\.jwks: has no key for PS256/,
    accepted: ownKeys([ec, privateJwk('PS256')], { clients: [client({ introspection_signed_response_alg: 'PS256' })] }),
  },
  {
    says: 'signing keys may be in the file as a mapping',
    refused: { keys: { jwks: { keys: [ec, publicJwk('ES256')] } } },
    message: /key 2 is not a private key/,
    accepted: { keys: { jwks: { keys: [ec, privateJwk('ES256')] } } },
  },
  {
    says: 'two signing keys do not have the same kid',
    refused: ownKeys([
      { ...ec, kid: 'a' },
      { ...privateJwk('ES256'), kid: 'a' },
    ]),
    message: /keys\.jwks: key 2 has the kid of key 1; give each key a kid of its own/,
    accepted: ownKeys([
      { ...ec, kid: 'a' },
      { ...privateJwk('ES256'), kid: 'b' },
    ]),
  },
  {
    says: 'one key under two algorithms has two kids',
    refused: ownKeys([ec, rsa, { ...rsa, alg: 'RS256' }]),
    message: /keys\.jwks: key 3 has the kid of key 2/,
    accepted: ownKeys([ec, rsa, { ...rsa, alg: 'RS256', kid: 'old' }]),
  },
  {
    says: 'keys of the operator are not rotated',
    refused: { keys: { rotateEvery: '7d', jwks: { keys: [ec] } } },
    message: /^2:3: keys\.rotateEvery: has no effect, because the keys of jwks are not rotated/,
    accepted: { keys: { rotateEvery: '7d' } },
  },
])
