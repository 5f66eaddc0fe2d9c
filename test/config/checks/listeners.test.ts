import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { holdsEach } from '../cases.ts'
import { publicJwk } from '../keys.ts'
import { hash } from '../support.ts'

const { server, ca } = createCertificates(t)
const files = { cert_file: server.certFile, key_file: server.keyFile }
const tls = { ...files, clientCa_file: ca.certFile }
const jwks = { keys: [publicJwk('ES256')] }
const publicP384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' })
const handoff = { mode: 'handoff', url: 'https://login.example.com/' }
const internal = { listen: '127.0.0.1:9443', jwks }
const user = { username: 'alice', password_hash: hash }
const header = { clientCertificateHeader: 'client-cert', trustedProxies: ['10.0.0.0/8'] }

holdsEach(t, [
  {
    says: 'traffic and admin have ports of their own',
    refused: { listen: '0.0.0.0:9090' },
    message: /admin: the traffic listener has this port/,
    accepted: { listen: '127.0.0.1:0', admin: '127.0.0.1:0' },
  },
  {
    says: 'the private listener has a port of its own',
    refused: { login: handoff, internal: { ...internal, listen: '127.0.0.1:8080' } },
    message: /internal\.listen: listen or admin has this port/,
    accepted: { login: handoff, internal },
  },
  {
    says: 'TLS needs a certificate and its key',
    refused: { tls: { cert_file: server.certFile } },
    message: /tls\.key_file: missing/,
    accepted: { tls: files },
  },
  {
    says: 'certificates of clients can be required only if there is a CA that verifies them',
    refused: { tls: { ...files, clientAuth: 'required' } },
    message:
      /tls\.clientCa_file: missing; clientAuth: required accepts only certificates of these CAs\. For self-signed certificates set clientAuth: optional/,
    accepted: { tls: { ...tls, clientAuth: 'required' } },
  },
  {
    says: 'a certificate that is asked for may be self-signed',
    refused: { tls: { ...files, clientAuth: 'wanted' } },
    message: /tls\.clientAuth: must be off, optional or required/,
    accepted: { tls: { ...files, clientAuth: 'optional' } },
  },
  {
    says: 'a header with certificates comes from a trusted proxy',
    refused: { clientCertificateHeader: 'client-cert' },
    message: /clientCertificateHeader: no proxy is trusted to send it/,
    accepted: header,
  },
  {
    says: 'certificates come in one of two headers',
    refused: { clientCertificateHeader: 'ssl-client-cert', trustedProxies: ['10.0.0.0/8'] },
    message: /clientCertificateHeader: must be none, client-cert or x-forwarded-client-cert/,
    accepted: { clientCertificateHeader: 'x-forwarded-client-cert', trustedProxies: ['10.0.0.0/8'] },
  },
  {
    says: 'the private listener speaks plain HTTP on loopback only',
    refused: { login: handoff, internal: { ...internal, listen: '10.0.0.1:9443' } },
    message: /internal\.listen: plain HTTP is only for loopback addresses/,
    accepted: { login: handoff, internal: { ...internal, listen: '10.0.0.1:9443', tls } },
  },
  {
    says: 'the login can authenticate at the private listener',
    refused: { login: handoff, internal: { listen: '127.0.0.1:9443', tls: files } },
    message: /internal: the login could not authenticate; set tls with clientCa_file, or jwks/,
    accepted: { login: handoff, internal: { listen: '127.0.0.1:9443', tls } },
  },
  {
    says: 'the private listener authenticates callers by public keys',
    refused: { login: handoff, internal: { ...internal, jwks: { keys: [] } } },
    message: /internal\.jwks: must be a JWK set with at least one key/,
    accepted: { login: handoff, internal },
  },
  {
    says: 'a login is embedded or handed off',
    refused: { login: { mode: 'broker' } },
    message: /login\.mode: must be embedded or handoff/,
    accepted: { login: { mode: 'embedded' } },
  },
  {
    says: 'a hand-off has the address of the login',
    refused: { internal, login: { mode: 'handoff' } },
    message: /login\.url: missing/,
    accepted: { internal, login: handoff },
  },
  {
    says: 'a hand-off is answered over the private listener',
    refused: { login: handoff },
    message: /login\.mode: with handoff the login reports over the private listener/,
    accepted: { internal, login: handoff },
  },
  {
    says: 'the address of a login is for hand-offs',
    refused: { login: { url: 'https://login.example.com/' } },
    message: /login\.url: is only for mode: handoff/,
    accepted: { internal, login: handoff },
  },
  {
    says: 'a login uses https, so that it cannot be read in transit',
    refused: { internal, login: { ...handoff, url: 'http://login.example.com/' } },
    message: /login\.url: must be an https URL/,
    accepted: { internal, login: { ...handoff, url: 'http://127.0.0.1:4000/login' } },
  },
  {
    says: 'a private listener is for a hand-off',
    refused: { internal },
    message: /^1:1: internal: has an effect only with login\.mode: handoff/,
    accepted: { internal, login: handoff },
  },
  {
    says: 'with a hand-off the file lists no users, because they sign in elsewhere',
    refused: { internal, login: { ...handoff, users: [user] } },
    message: /login\.users: are only for mode: embedded, and no user signs in here with a login of your own/,
    accepted: { login: { users: [user] } },
  },
  {
    says: 'where Sidegate speaks TLS its issuer is https',
    refused: { tls: files, issuer: 'http://auth.example.com' },
    message: /must be https because Sidegate serves TLS \(tls\)/,
    accepted: { tls: files, issuer: 'https://auth.example.com' },
  },
  {
    says: 'a CA for client certificates is set only if clients are asked for certificates',
    refused: { tls },
    message: /tls\.clientCa_file: has no effect while clients are not asked for a certificate/,
    accepted: { tls: { ...tls, clientAuth: 'optional' } },
  },
  ...[{ ...publicJwk('ES256'), use: 'enc' }, { ...publicJwk('ES256'), alg: 'ECDH-ES' }, publicP384].map(jwk => ({
    says: `the login signs with a key for that, not with one of ${jwk.crv} for ${jwk.use ?? jwk.alg ?? 'ES384'}`,
    refused: { login: handoff, internal: { ...internal, jwks: { keys: [jwk] } } },
    message: /internal\.jwks: has no key for ES256, PS256, EdDSA, one of which the login must sign with/,
    accepted: {
      login: handoff,
      internal: { ...internal, jwks: { keys: [jwk, { ...publicJwk('ES256'), use: 'sig' }] } },
    },
  })),
  {
    says: 'the parameter that the browser brings to the login is Sidegate’s own',
    refused: { internal, login: { ...handoff, url: 'https://login.example.com/?lang=en&interactio%6E=x' } },
    message: /login\.url: has a parameter interaction already; remove it/,
    accepted: { internal, login: { ...handoff, url: 'https://login.example.com/?lang=en&interactions=x' } },
  },
])
