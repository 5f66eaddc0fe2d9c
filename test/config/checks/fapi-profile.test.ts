import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { holdsEach } from '../cases.ts'
import { publicJwk } from '../keys.ts'
import { authorize, publishing } from '../support.ts'

type Changes = Readonly<Record<string, unknown>>

const { server } = createCertificates(t)
const tls = { cert_file: server.certFile, key_file: server.keyFile, clientAuth: 'optional' }
const jwks = { keys: [publicJwk('ES256'), { ...publicJwk('PS256'), alg: undefined }] }
const app = {
  client_id: 'app',
  token_endpoint_auth_method: 'private_key_jwt',
  jwks,
  dpop_bound_access_tokens: true,
  redirect_uris: ['https://app.example.com/callback'],
}
const par = { method: 'POST', path: '/par', serves: 'par' }
const { groupings } = publishing(authorize, par)
const withoutPar = publishing(authorize).groupings
const issuer = 'https://auth.example.com'
const plain = { client_id: 'plain', client_secret: 's', grant_types: ['client_credentials'] }

/** A file that conforms to the profile, except for changes to the client or to the top level. */
const fapi = (client: Changes, head: Changes = {}): Changes => ({
  profile: 'fapi2',
  issuer,
  groupings,
  ...head,
  clients: [{ ...app, ...client }],
})

holdsEach(t, [
  {
    says: 'the issuer is https',
    refused: fapi({}, { issuer: 'http://auth.example.com' }),
    message: /issuer: profile: fapi2 requires an https issuer \(section 5\.2\.2\)/,
    accepted: fapi({}, { issuer: 'http://127.0.0.1:8080' }),
  },
  {
    says: 'an issuer may be missing from the file only on loopback, for trials',
    refused: fapi({}, { issuer: undefined, listen: '0.0.0.0:8080' }),
    message: /issuer: missing, so it would be http:\/\/localhost:8080/,
    accepted: fapi({}, { issuer: undefined, listen: '127.0.0.1:8080' }),
  },
  {
    says: 'codes live a minute at most',
    refused: fapi({}, { tokens: { code: { lifetime: '61s' } } }),
    message:
      /tokens\.code\.lifetime: profile: fapi2 requires codes with a lifetime of at most 60s \(section 5\.3\.2\.2\)/,
    accepted: fapi({}, { tokens: { code: { lifetime: '60s' } } }),
  },
  {
    says: 'one client that keeps to the profile is enough for the lifetime of codes',
    refused: fapi({ profile: 'fapi2' }, { profile: 'none', tokens: { code: { lifetime: '61s' } } }),
    message:
      /tokens\.code\.lifetime: profile: fapi2 requires codes with a lifetime of at most 60s \(section 5\.3\.2\.2\)/,
    accepted: fapi({ profile: 'none' }, { profile: 'none', tokens: { code: { lifetime: '61s' } } }),
  },
  {
    says: 'pushed requests have an operation',
    refused: fapi({}, { groupings: withoutPar }),
    message: /^1:10: profile: fapi2 requires pushed authorization requests/,
    accepted: fapi({ grant_types: ['client_credentials'] }, { groupings: withoutPar }),
  },
  {
    says: 'a client with the profile says that pushed requests have no operation',
    refused: fapi({ profile: 'fapi2' }, { profile: 'none', groupings: withoutPar }),
    message: /clients\[0\]\.profile: fapi2 requires pushed authorization requests/,
    accepted: fapi({ profile: 'none' }, { profile: 'none', groupings: withoutPar }),
  },
  {
    says: 'no client is public',
    refused: fapi({ token_endpoint_auth_method: 'none' }),
    message:
      /token_endpoint_auth_method: profile: fapi2 requires private_key_jwt, tls_client_auth or self_signed_tls_client_auth \(section 5\.3\.2\.1\)/,
    accepted: fapi({ token_endpoint_auth_method: 'self_signed_tls_client_auth' }, { tls }),
  },
  {
    says: 'no client has a secret',
    refused: { profile: 'fapi2', issuer, clients: [{ ...plain, dpop_bound_access_tokens: true }] },
    message:
      /token_endpoint_auth_method: profile: fapi2 requires private_key_jwt, tls_client_auth or self_signed_tls_client_auth \(section 5\.3\.2\.1\)/,
    accepted: { profile: 'none', clients: [{ ...plain, dpop_bound_access_tokens: true }] },
  },
  {
    says: 'the profile of the file holds for a client that says none',
    refused: { profile: 'fapi2', issuer, clients: [{ ...plain, profile: 'none', dpop_bound_access_tokens: true }] },
    message:
      /token_endpoint_auth_method: profile: fapi2 requires private_key_jwt, tls_client_auth or self_signed_tls_client_auth \(section 5\.3\.2\.1\)/,
    accepted: fapi({ profile: 'none' }),
  },
  {
    says: 'the profile of one client is no other client’s',
    refused: { ...fapi({}), profile: 'none', clients: [{ ...app, pkce: 'optional', profile: 'fapi2' }, plain] },
    message: /clients\[0\]\.pkce: profile: fapi2 requires pkce: required \(section 5\.3\.2\.2\)/,
    accepted: { ...fapi({}), profile: 'none', clients: [{ ...app, profile: 'fapi2' }, { ...plain }] },
  },
  {
    says: 'tokens are bound to something',
    refused: fapi({ dpop_bound_access_tokens: false }),
    message: /dpop_bound_access_tokens: profile: fapi2 requires sender-constrained tokens \(section 5\.3\.2\.1\)/,
    accepted: fapi({ dpop_bound_access_tokens: false, tls_client_certificate_bound_access_tokens: true }, { tls }),
  },
  {
    says: 'PKCE is required',
    refused: fapi({ pkce: 'optional' }),
    message: /pkce: profile: fapi2 requires pkce: required \(section 5\.3\.2\.2\)/,
    accepted: fapi({ pkce: 'required' }),
  },
  {
    says: 'pushed requests are required',
    refused: fapi({ require_pushed_authorization_requests: false }),
    message: /require_pushed_authorization_requests: profile: fapi2 requires pushed requests \(section 5\.3\.2\.2\)/,
    accepted: fapi({ require_pushed_authorization_requests: true }),
  },
  {
    says: 'assertions are for the issuer',
    refused: fapi({ assertion_audience: 'endpoint' }),
    message: /assertion_audience: profile: fapi2 requires assertion_audience: issuer \(section 5\.3\.2\.1\)/,
    accepted: fapi({ assertion_audience: 'issuer' }),
  },
  {
    says: 'the browser that began an authorization ends it',
    refused: fapi({ bindToBrowser: false }),
    message: /bindToBrowser: profile: fapi2 requires bindToBrowser: true/,
    accepted: fapi({ bindToBrowser: true }),
  },
  {
    says: 'http redirects are for native clients',
    refused: fapi({ redirect_uris: ['http://127.0.0.1/callback'] }),
    message:
      /redirect_uris\[0\]: profile: fapi2 allows http only for application_type: native on 127\.0\.0\.1 or \[::1\] \(section 5\.3\.2\.2\)/,
    accepted: fapi({ redirect_uris: ['http://127.0.0.1/callback'], application_type: 'native' }),
  },
  {
    says: 'http redirects go to an address of the machine, not to a name',
    refused: fapi({ redirect_uris: ['http://localhost/callback'], application_type: 'native' }),
    message:
      /redirect_uris\[0\]: profile: fapi2 allows http only for application_type: native on 127\.0\.0\.1 or \[::1\] \(section 5\.3\.2\.2\)/,
    accepted: fapi({ redirect_uris: ['http://[::1]/callback', 'com.example.app:/'], application_type: 'native' }),
  },
  ...[
    'token_endpoint_auth_signing_alg',
    'request_object_signing_alg',
    'introspection_signed_response_alg',
    'access_token_signed_response_alg',
  ].map(field => ({
    says: `RS256 is no ${field}`,
    refused: fapi({ [field]: 'RS256' }),
    message: new RegExp(`${field}: profile: fapi2 requires ES256, PS256 or EdDSA`),
    accepted: fapi({ [field]: 'PS256' }),
  })),
])
