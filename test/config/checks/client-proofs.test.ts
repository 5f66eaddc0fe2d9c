import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { holdsEach } from '../cases.ts'
import { privateJwk, publicJwk, rsaJwk } from '../keys.ts'
import { client, hash } from '../support.ts'

const { server, ca } = createCertificates(t)
const clients = (changes: Readonly<Record<string, unknown>>): unknown => ({ clients: [client(changes)] })
const keyed = { client_secret: undefined, token_endpoint_auth_method: 'private_key_jwt' }
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' })
const jwks = { keys: [publicJwk('ES256')] }
const by = (method: string, changes: Readonly<Record<string, unknown>>) => ({
  tls: { cert_file: server.certFile, key_file: server.keyFile, clientCa_file: ca.certFile, clientAuth: 'optional' },
  ...(clients({ client_secret: undefined, token_endpoint_auth_method: method, ...changes }) as object),
})
const named = { tls_client_auth_san_dns: 'shop.example.com' }
const behindProxy = { tls: undefined, trustedProxies: ['10.0.0.0/8'], clientCertificateHeader: 'client-cert' }

const ownTls = { cert_file: server.certFile, key_file: server.keyFile, clientAuth: 'optional' }
const without = { client_secret: undefined }
const byName = client({ ...without, token_endpoint_auth_method: 'tls_client_auth', ...named })
const bySelf = client({ ...without, client_id: 'b', token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks })

holdsEach(t, [
  {
    says: 'a confidential client has a secret',
    refused: clients({ client_secret: undefined }),
    message:
      /client_secret: missing; set client_secret or client_secret_hash, or token_endpoint_auth_method: none for a public client/,
    accepted: clients({ client_secret: undefined, client_secret_hash: hash }),
  },
  {
    says: 'a client has one secret',
    refused: clients({ client_secret_hash: hash }),
    message: /client_secret_hash: excludes client_secret/,
    accepted: clients({}),
  },
  {
    says: 'a stored form is what sidegate hash prints',
    refused: clients({ client_secret: undefined, client_secret_hash: 'shop-secret' }),
    message: /client_secret_hash: is not a hash of a secret/,
    accepted: clients({ client_secret: undefined, client_secret_hash: hash }),
  },
  {
    says: 'a public client has no secret',
    refused: clients({ token_endpoint_auth_method: 'none', grant_types: ['refresh_token'] }),
    message: /client_secret: a public client .* has no secret/,
    accepted: clients({
      token_endpoint_auth_method: 'none',
      grant_types: ['refresh_token'],
      client_secret: undefined,
    }),
  },
  {
    says: 'the key_ops of a key is a list of texts',
    refused: clients({ ...keyed, jwks: { keys: [{ ...publicJwk('ES256'), key_ops: 'verify' }] } }),
    message: /jwks.*: key 1 has a key_ops that is not a list of texts/,
    accepted: clients({ ...keyed, jwks: { keys: [{ ...publicJwk('ES256'), key_ops: ['verify'] }] } }),
  },
  {
    says: 'a key without verify in its key_ops is no key of an assertion',
    refused: clients({ ...keyed, jwks: { keys: [{ ...publicJwk('ES256'), key_ops: ['deriveKey'] }] } }),
    message: /jwks/,
    accepted: clients({ ...keyed, jwks: { keys: [{ ...publicJwk('ES256'), key_ops: ['deriveKey', 'verify'] }] } }),
  },
  {
    says: 'an authentication method is one that is served',
    refused: clients({ token_endpoint_auth_method: 'client_secret_jwt' }),
    message: /token_endpoint_auth_method: must be client_secret_basic, .* or none/,
    accepted: clients({ token_endpoint_auth_method: 'client_secret_post' }),
  },
  {
    says: 'secrets that are good at the same time are secrets or stored forms',
    refused: clients({ client_secrets: [{ client_secret: 'old', client_secret_hash: hash }] }),
    message: /client_secrets\[0\]\.client_secret_hash: excludes client_secret/,
    accepted: clients({ client_secrets: [{ client_secret: 'old' }, { client_secret_hash: hash }] }),
  },
  {
    says: 'a secret needs more than its expiry',
    refused: clients({ client_secrets: [{ until: '2027-01-31T12:00:00Z' }] }),
    message: /client_secrets\[0\]: needs client_secret or client_secret_hash/,
    accepted: clients({ client_secrets: [{ client_secret: 'old', until: '2027-01-31T12:00:00Z' }] }),
  },
  {
    says: 'the expiry of a secret has a time zone',
    refused: clients({ client_secrets: [{ client_secret: 'old', until: '2027-01-31T12:00:00' }] }),
    message:
      /client_secrets\[0\]\.until: must be a timestamp with its time zone, such as 2027-01-31T12:00:00Z or 2027-01-31T12:00\+01:00/,
    accepted: clients({ client_secrets: [{ client_secret: 'old', until: '2027-01-31T12:00+01:00' }] }),
  },
  {
    says: 'the expiry of a secret is a day of the calendar',
    refused: clients({ client_secrets: [{ client_secret: 'old', until: '2027-02-29T12:00:00Z' }] }),
    message:
      /client_secrets\[0\]\.until: must be a timestamp with its time zone, such as 2027-01-31T12:00:00Z or 2027-01-31T12:00\+01:00/,
    accepted: clients({ client_secrets: [{ client_secret: 'old', until: '2028-02-29T12:00:00Z' }] }),
  },
  {
    says: 'a client that signs has no secret',
    refused: clients({ ...keyed, jwks, client_secrets: [{ client_secret: 'old' }] }),
    message: /client_secrets: a client \(token_endpoint_auth_method: private_key_jwt\) has no secret/,
    accepted: clients({ ...keyed, jwks }),
  },
  {
    says: 'a client that signs has keys',
    refused: clients(keyed),
    message: /jwks: missing; private_key_jwt needs its public keys; set jwks, jwks_file or jwks_uri/,
    accepted: clients({ ...keyed, jwks_uri: 'https://shop.example.com/jwks.json' }),
  },
  {
    says: 'a client whose certificate is self-signed has keys',
    refused: by('self_signed_tls_client_auth', {}),
    message: /jwks: missing; self_signed_tls_client_auth needs its public keys; set jwks, jwks_file or jwks_uri/,
    accepted: by('self_signed_tls_client_auth', { jwks }),
  },
  {
    says: 'a client that must sign its requests has keys',
    refused: clients({ require_signed_request_object: true }),
    message: /jwks: missing; require_signed_request_object needs its public keys; set jwks, jwks_file or jwks_uri/,
    accepted: clients({ require_signed_request_object: true, jwks }),
  },
  {
    says: 'an algorithm of request objects goes with keys',
    refused: clients({ request_object_signing_alg: 'PS256' }),
    message: /jwks: missing; request_object_signing_alg needs its public keys; set jwks, jwks_file or jwks_uri/,
    accepted: clients({ request_object_signing_alg: 'ES256', jwks }),
  },
  {
    says: 'keys are in the file or at an address, but not both',
    refused: clients({ ...keyed, jwks, jwks_uri: 'https://shop.example.com/jwks.json' }),
    message: /jwks_uri: excludes jwks/,
    accepted: clients({ ...keyed, jwks }),
  },
  {
    says: 'keys are fetched over https, so that they cannot be changed in transit',
    refused: clients({ ...keyed, jwks_uri: 'http://shop.example.com/jwks.json' }),
    message: /jwks_uri: must be an https URL, such as https:\/\/shop\.example\.com\/jwks\.json/,
    accepted: clients({ ...keyed, jwks_uri: 'http://localhost:4000/jwks.json' }),
  },
  {
    says: 'a key of a client is public',
    refused: clients({ ...keyed, jwks: { keys: [...jwks.keys, privateJwk('ES256')] } }),
    message: /jwks\.keys\[1\]: key 2 has the private member d/,
    accepted: clients({ ...keyed, jwks: { keys: [...jwks.keys, publicJwk('EdDSA')] } }),
  },
  {
    says: 'a key of a client is not symmetric',
    refused: clients({ ...keyed, jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }),
    message: /jwks\.keys\[0\]: key 1 is symmetric; only public keys are allowed here/,
    accepted: clients({ ...keyed, jwks }),
  },
  {
    says: 'a key of a client is complete',
    refused: clients({ ...keyed, jwks: { keys: [{ ...publicJwk('ES256'), y: undefined }] } }),
    message: /jwks\.keys\[0\]: key 1 is not a public key/,
    accepted: clients({ ...keyed, jwks }),
  },
  {
    says: 'an RSA key has 2048 bits',
    refused: clients({ ...keyed, jwks: { keys: [rsaJwk(1024)] } }),
    message: /jwks\.keys\[0\]: key 1 is too short; an RSA key has 2048 bits or more/,
    accepted: clients({ ...keyed, jwks: { keys: [rsaJwk(2048)] } }),
  },
  {
    says: 'an RSA key has 4096 bits at most: others say how much their signatures cost',
    refused: clients({ ...keyed, jwks: { keys: [rsaJwk(4104)] } }),
    message: /jwks\.keys\[0\]: key 1 is too long/,
    accepted: clients({ ...keyed, jwks: { keys: [rsaJwk(4096)] } }),
  },
  {
    says: 'the exponent of an RSA key has 32 bits at most',
    refused: clients({ ...keyed, jwks: { keys: [{ ...rsaJwk(2048), e: 'AQAAAAE' }] } }),
    message: /jwks\.keys\[0\]: key 1 has too long an exponent; e of an RSA key has 32 bits at most here/,
    accepted: clients({ ...keyed, jwks: { keys: [{ ...rsaJwk(2048), e: '_____w' }] } }),
  },
  {
    says: 'a client that signs has a key that it can sign with',
    refused: clients({ ...keyed, jwks: { keys: [p384] } }),
    message: /jwks: has no key for ES256, PS256, EdDSA, the algorithms that the client is registered for/,
    accepted: clients({ ...keyed, jwks: { keys: [p384, publicJwk('ES256')] } }),
  },
  {
    says: 'a key of a client fits the algorithm that it is registered to sign with',
    refused: clients({ ...keyed, jwks, token_endpoint_auth_signing_alg: 'PS256' }),
    message: /jwks: has no key for PS256/,
    accepted: clients({ ...keyed, jwks: { keys: [rsaJwk(2048)] }, token_endpoint_auth_signing_alg: 'PS256' }),
  },
  {
    says: 'a key of a client that says what it is for is for that alone',
    refused: clients({ ...keyed, jwks: { keys: [{ ...publicJwk('ES256'), use: 'enc' }] } }),
    message: /jwks: has no key for ES256, PS256, EdDSA/,
    accepted: clients({ ...keyed, jwks: { keys: [{ ...publicJwk('ES256'), use: 'sig' }] } }),
  },
  {
    says: 'a key of a client fits its request objects',
    refused: clients({ ...keyed, jwks, request_object_signing_alg: 'EdDSA' }),
    message: /jwks: has no key for EdDSA/,
    accepted: clients({ ...keyed, jwks, request_object_signing_alg: 'ES256' }),
  },
  {
    says: 'a certificate may have a key that signs nothing else',
    refused: clients({ require_signed_request_object: true, jwks: { keys: [p384] } }),
    message: /jwks: has no key for ES256, PS256, EdDSA/,
    accepted: by('self_signed_tls_client_auth', { jwks: { keys: [p384] } }),
  },
  {
    says: 'an algorithm of assertions is for clients that sign them',
    refused: clients({ token_endpoint_auth_signing_alg: 'ES256' }),
    message: /token_endpoint_auth_signing_alg: is only for token_endpoint_auth_method: private_key_jwt/,
    accepted: clients({ ...keyed, jwks, token_endpoint_auth_signing_alg: 'ES256' }),
  },
  {
    says: 'an algorithm is one that is served',
    refused: clients({ ...keyed, jwks, token_endpoint_auth_signing_alg: 'HS256' }),
    message: /token_endpoint_auth_signing_alg: must be ES256, PS256, EdDSA or RS256/,
    accepted: clients({ ...keyed, jwks: { keys: [rsaJwk(2048)] }, token_endpoint_auth_signing_alg: 'RS256' }),
  },
  {
    says: 'a certificate is known by a name',
    refused: by('tls_client_auth', {}),
    message:
      /tls_client_auth_subject_dn: missing; set one of tls_client_auth_subject_dn, tls_client_auth_san_dns, tls_client_auth_san_uri, tls_client_auth_san_ip, tls_client_auth_san_email/,
    accepted: by('tls_client_auth', named),
  },
  {
    says: 'a certificate is known by one name',
    refused: by('tls_client_auth', { ...named, tls_client_auth_subject_dn: 'CN=shop' }),
    message: /tls_client_auth_san_dns: there is another name already/,
    accepted: by('tls_client_auth', { tls_client_auth_subject_dn: 'CN=shop,O=Example' }),
  },
  {
    says: 'a name of a certificate is for clients that are known by it',
    refused: clients(named),
    message: /tls_client_auth_san_dns: is only for token_endpoint_auth_method: tls_client_auth/,
    accepted: clients({}),
  },
  {
    says: 'a distinguished name has types and values',
    refused: by('tls_client_auth', { tls_client_auth_subject_dn: 'shop' }),
    message: /tls_client_auth_subject_dn: must be a distinguished name/,
    accepted: by('tls_client_auth', { tls_client_auth_subject_dn: '2.5.4.97=PSDDE-BAFIN-123456,CN=shop' }),
  },
  {
    says: 'a distinguished name begins with its narrowest part',
    refused: by('tls_client_auth', { tls_client_auth_subject_dn: 'C = DE, O = Example\\, Inc., CN = shop' }),
    message:
      /subject_dn: is in reverse order: RFC 4514 writes it as CN=shop,O=Example\\, Inc\.,C=DE; if the certificate/,
    accepted: by('tls_client_auth', { tls_client_auth_subject_dn: 'CN=shop,O=Example\\, Inc.,C=DE' }),
  },
  {
    says: 'a distinguished name of object identifiers is accepted as it is written',
    refused: by('tls_client_auth', { tls_client_auth_subject_dn: 'O=Example,CN=shop' }),
    message: /subject_dn: is in reverse order: RFC 4514 writes it as CN=shop,O=Example;/,
    accepted: by('tls_client_auth', { tls_client_auth_subject_dn: '2.5.4.10=Example,2.5.4.3=shop' }),
  },
  {
    says: 'a distinguished name is the text behind subject=',
    refused: by('tls_client_auth', { tls_client_auth_subject_dn: 'subject=CN=shop' }),
    message: /subject_dn: begins with a prefix that openssl prints; remove subject=/,
    accepted: by('tls_client_auth', { tls_client_auth_subject_dn: 'CN=shop' }),
  },
  {
    says: 'a distinguished name is not written as paths are',
    refused: by('tls_client_auth', { tls_client_auth_subject_dn: '/C=DE/CN=shop' }),
    message: /subject_dn: must be a distinguished name, .*openssl x509 -noout -subject -nameopt RFC2253/,
    accepted: by('tls_client_auth', { tls_client_auth_subject_dn: 'CN=shop,C=DE' }),
  },
  {
    says: 'a DNS name has no wildcard',
    refused: by('tls_client_auth', { tls_client_auth_san_dns: '*.example.com' }),
    message: /tls_client_auth_san_dns: must be a DNS name without wildcard/,
    accepted: by('tls_client_auth', { tls_client_auth_san_dns: 'a.example.com' }),
  },
  {
    says: 'a URI of a certificate is absolute',
    refused: by('tls_client_auth', { tls_client_auth_san_uri: '/shop' }),
    message: /tls_client_auth_san_uri: must be an absolute URI/,
    accepted: by('tls_client_auth', { tls_client_auth_san_uri: 'urn:shop' }),
  },
  {
    says: 'an IP address of a certificate is an IP address',
    refused: by('tls_client_auth', { tls_client_auth_san_ip: '10.0.0.0/8' }),
    message: /tls_client_auth_san_ip: must be an IPv4 or IPv6 address/,
    accepted: by('tls_client_auth', { tls_client_auth_san_ip: 'fd00::1' }),
  },
  {
    says: 'a mail address of a certificate is a mail address',
    refused: by('tls_client_auth', { tls_client_auth_san_email: 'shop' }),
    message: /tls_client_auth_san_email: must be a mail address/,
    accepted: by('tls_client_auth', { tls_client_auth_san_email: 'shop@example.com' }),
  },
  {
    says: 'a client that shows a certificate is asked for it',
    refused: { ...by('tls_client_auth', named), tls: undefined },
    message: /token_endpoint_auth_method: certificates of clients do not reach Sidegate/,
    accepted: by('tls_client_auth', named),
  },
  {
    says: 'a certificate may come from a trusted proxy in the header that is named',
    refused: { ...by('tls_client_auth', named), ...behindProxy, clientCertificateHeader: undefined },
    message: /token_endpoint_auth_method: certificates of clients do not reach Sidegate/,
    accepted: { ...by('tls_client_auth', named), ...behindProxy },
  },
  {
    says: 'a name in a certificate counts only if a CA verifies the certificate',
    refused: {
      ...by('tls_client_auth', named),
      tls: { cert_file: server.certFile, key_file: server.keyFile, clientAuth: 'optional' },
    },
    message: /token_endpoint_auth_method: the chains of client certificates are not verified/,
    accepted: by('tls_client_auth', named),
  },
  {
    says: 'one proxy verifies the certificates of all clients, or of none',
    refused: { ...behindProxy, clients: [byName, bySelf] },
    message:
      /clients\[1\]\.token_endpoint_auth_method: tls_client_auth and self_signed_tls_client_auth exclude each other/,
    accepted: { ...behindProxy, clients: [byName, { ...byName, client_id: 'other' }] },
  },
  {
    says: 'the proxy may verify certificates while clients that connect directly use self-signed ones',
    refused: { ...behindProxy, clients: [bySelf, byName] },
    message: /clients\[1\]\.token_endpoint_auth_method: tls_client_auth and self_signed_tls_client_auth exclude/,
    accepted: { ...by('tls_client_auth', named), ...behindProxy, tls: ownTls, clients: [byName, bySelf] },
  },
  {
    says: 'tokens can be bound to certificates only if certificates reach Sidegate',
    refused: clients({ tls_client_certificate_bound_access_tokens: true }),
    message: /tls_client_certificate_bound_access_tokens: certificates of clients do not reach Sidegate/,
    accepted: by('client_secret_basic', { client_secret: 's', tls_client_certificate_bound_access_tokens: true }),
  },
  {
    says: 'another browser is allowed only by true or false',
    refused: clients({ bindToBrowser: 'other' }),
    message: /bindToBrowser: must be true or false/,
    accepted: clients({ bindToBrowser: false }),
  },
])
