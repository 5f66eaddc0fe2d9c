import t from 'tap'
import { holdsEach } from '../cases.ts'
import { privateJwk, publicJwk } from '../keys.ts'
import { client } from '../support.ts'

const ownKeys = (keys: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): unknown => ({
  keys: { jwks: JSON.stringify({ keys }) },
  ...more,
})
const ec = privateJwk('ES256')

holdsEach(t, [
  {
    says: 'a key signs for an hour at least',
    refused: { keys: { rotateEvery: '59m' } },
    message: /keys\.rotateEvery: must be a duration in whole seconds, 3600s to/,
    accepted: { keys: { rotateEvery: '1h' } },
  },
  {
    says: 'keys to sign with are a set',
    refused: { keys: { jwks: JSON.stringify(ec) } },
    message: /^2:9: keys\.jwks: must be a JWK set with at least one key/,
    accepted: ownKeys([ec]),
  },
  {
    says: 'keys to sign with are private',
    refused: ownKeys([publicJwk('ES256')]),
    message: /^2:9: keys\.jwks: key 1 is no private key/,
    accepted: ownKeys([ec]),
  },
  {
    says: 'a key to sign with says how',
    refused: ownKeys([ec, { ...ec, alg: undefined }]),
    message: /keys\.jwks: key 2 needs alg, one of ES256, PS256, EdDSA, RS256/,
    accepted: ownKeys([ec, privateJwk('ES256')]),
  },
  {
    says: 'a key signs as its kind can',
    refused: ownKeys([ec, { ...ec, alg: 'EdDSA' }]),
    message: /keys\.jwks: key 2 cannot sign with EdDSA/,
    accepted: ownKeys([ec, privateJwk('EdDSA')]),
  },
  {
    says: 'there is a key for what access tokens are signed with',
    refused: ownKeys([ec], { tokens: { accessToken: { alg: 'EdDSA' } } }),
    message: /keys\.jwks: has no key for EdDSA; add one/,
    accepted: ownKeys([privateJwk('EdDSA')], { tokens: { accessToken: { alg: 'EdDSA' } } }),
  },
  {
    says: 'there is a key for what a client wants signed',
    refused: ownKeys([ec], { clients: [client({ introspection_signed_response_alg: 'PS256' })] }),
    message: /keys\.jwks: has no key for PS256/,
    accepted: ownKeys([ec, privateJwk('PS256')], { clients: [client({ introspection_signed_response_alg: 'PS256' })] }),
  },
])
