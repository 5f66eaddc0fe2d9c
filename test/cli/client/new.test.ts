import { createPrivateKey, createPublicKey } from 'node:crypto'
import t from 'tap'
import { parse } from 'yaml'
import { toListItem } from '../../../src/cli/client/client-yaml.ts'
import { clientNew as clientNewCommand } from '../../../src/cli/client/new.ts'
import { isSecretHash, verifySecretHash } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { acceptedConfig, authorize, hash, problemsOf, publishing } from '../../config/support.ts'
import { createCertificates } from '../../support/certificates.ts'
import { sidegate } from '../run.ts'

const certificates = createCertificates(t)

const clientNew = (...args: readonly string[]) => sidegate(['client', 'new', ...args])

/** The printed client, pasted into a configuration that serves authorization codes and pushed requests. */
const pasted = (output: string, changes: object = {}): object => ({
  ...publishing(authorize, { method: 'POST', path: '/par', serves: 'par' }),
  ...parse(`clients:\n${output.slice(output.indexOf('  - client_id'))}`),
  ...changes,
})

t.test('client new prints a secret once, and YAML with its stored form that passes the check', async t => {
  const { code, stdout } = await sidegate([
    ...[
      'client',
      'new',
      '--id',
      'shop',
      '--name',
      'The shop',
      '--grant',
      'authorization_code',
      '--grant',
      'refresh_token',
    ],
    ...['--redirect-uri', 'https://shop.example.com/callback', '--scope', 'read', '--scope', 'write'],
  ])

  t.equal(code, 0)
  const secret = /^client_secret: ([\w-]{43}) /m.exec(stdout)?.[1] ?? ''
  t.equal(stdout.split(secret).length, 2, 'it stands there once')
  const config = await acceptedConfig(t, pasted(stdout))
  t.match(
    [...config.oauth.clients],
    [
      {
        client_id: 'shop',
        client_name: 'The shop',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['https://shop.example.com/callback'],
        scope: ['read', 'write'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
  )
  const [shop] = config.oauth.clients
  const stored = shop?.secrets[0]?.value
  t.ok(stored && isSecretHash(stored.reveal()) && (await verifySecretHash(new Secret(secret), stored)))
})

t.test('a text that looks like a reference to the environment is pasted literally', async t => {
  const names = { client_id: `a\${b}`, client_name: `a \${HOME} and $\${b} and \${` }

  const printed = toListItem({ ...names, client_secret_hash: hash, redirect_uris: ['https://shop.example.com/'] })

  t.match([...(await acceptedConfig(t, pasted(printed))).oauth.clients], [names])
})

t.test('no two clients get the same secret', async t => {
  const args = ['client', 'new', '--id', 'shop', '--grant', 'client_credentials']

  const [one, other] = await Promise.all([sidegate(args), sidegate(args)])

  t.not(one.stdout, other.stdout)
})

t.test('a public client has no secret', async t => {
  const { code, stdout } = await sidegate([
    ...['client', 'new', '--id', 'app', '--public', '--grant', 'authorization_code'],
    ...['--redirect-uri', 'com.example.app:/callback'],
  ])

  t.equal(code, 0)
  t.notMatch(stdout, /client_secret/)
  t.same(await problemsOf(t, pasted(stdout)), [])
})

t.test('a client that signs gets a new key: the private key is shown once, the YAML has the public key', async t => {
  const { code, stdout } = await sidegate([
    ...['client', 'new', '--id', 'app', '--grant', 'client_credentials', '--auth-method', 'private_key_jwt'],
  ])

  t.equal(code, 0)
  const [, shown = ''] = /^private_jwk: (\{.*\}) {2}# shown only once/m.exec(stdout) ?? []
  const key: { readonly d: string } = JSON.parse(shown)
  t.equal(stdout.split(key.d).length, 2, 'it stands there once')
  const [registered] = (await acceptedConfig(t, pasted(stdout))).oauth.clients
  const { d, ...publicHalf } = key
  t.same(registered?.keys, { kind: 'jwks', jwks: { keys: [publicHalf] } })
  t.equal(registered?.token_endpoint_auth_method, 'private_key_jwt')
})

t.test('a client with a certificate gets no new credential, and is identified by its subject', async t => {
  const { code, stdout } = await sidegate([
    ...['client', 'new', '--id', 'bank', '--grant', 'client_credentials', '--auth-method', 'tls_client_auth'],
    ...['--subject-dn', 'CN=bank,O=Example'],
  ])

  t.equal(code, 0)
  t.match(stdout, /^# paste under clients:\n {2}- client_id: bank\n {4}tls_client_auth_subject_dn: CN=bank,O=Example\n/)
})

t.test('the subject of a client can be read from its certificate', async t => {
  const odd = certificates.issue('odd', { subject: '/C=DE/O=Example, Inc./CN=api.bank.example', usage: 'clientAuth' })

  const { code, stdout, stderr } = await clientNew(
    ...['--id', 'bank', '--grant', 'client_credentials', '--auth-method', 'tls_client_auth'],
    ...['--certificate', odd.certFile],
  )

  t.equal(code, 0, stderr)
  t.match(parse(stdout), [{ tls_client_auth_subject_dn: 'CN=api.bank.example,O=Example\\, Inc.,C=DE' }])
})

t.test('the keys of a client whose certificate is self-signed are read from it', async t => {
  const { selfSigned } = certificates

  const { code, stdout, stderr } = await clientNew(
    ...['--id', 'bank', '--grant', 'client_credentials', '--auth-method', 'self_signed_tls_client_auth'],
    ...['--certificate', selfSigned.certFile],
  )

  t.equal(code, 0, stderr)
  const publicKey = createPublicKey(createPrivateKey(selfSigned.key)).export({ format: 'jwk' })
  t.match(parse(stdout), [{ jwks: { keys: [publicKey] } }])
})

t.test('a client can publish its keys at a URI', async t => {
  const { stdout } = await clientNew(
    ...['--id', 'app', '--grant', 'client_credentials', '--auth-method', 'private_key_jwt'],
    ...['--jwks-uri', 'https://app.example/jwks'],
  )

  t.notMatch(stdout, /private_jwk/)
  t.match(parse(stdout), [{ jwks_uri: 'https://app.example/jwks', jwks: undefined }])
  t.same(await problemsOf(t, pasted(stdout)), [])
})

const codes = ['--grant', 'authorization_code', '--redirect-uri', 'http://127.0.0.1:3000/callback']
const byCertificate = ['--grant', 'client_credentials', '--certificate', certificates.client.certFile]

t.test('the client that is printed with --profile passes the check of the profile', async t => {
  const [signing, bound, byName] = await Promise.all([
    clientNew('--id', 'app', '--profile', 'fapi2', ...codes),
    clientNew('--id', 'app', '--auth-method', 'private_key_jwt', '--dpop', ...codes),
    clientNew('--id', 'app', '--profile', 'fapi2', '--auth-method', 'tls_client_auth', ...byCertificate),
  ])

  const { certFile: cert_file, keyFile: key_file } = certificates.server
  const tls = { cert_file, key_file, clientCa_file: certificates.ca.certFile, clientAuth: 'optional' }
  for (const { code, stdout, stderr } of [signing, bound, byName]) {
    t.equal(code, 0, stderr)
    t.same(await problemsOf(t, pasted(stdout, { tls, profile: 'fapi2' })), [])
  }
  t.match(parse(signing.stdout.slice(signing.stdout.indexOf('  - '))), [
    { profile: 'fapi2', dpop_bound_access_tokens: true },
  ])
  t.match(parse(byName.stdout), [{ tls_client_certificate_bound_access_tokens: true }])
})

const refusals: readonly (readonly [says: string, args: readonly string[], message: RegExp])[] = [
  [
    'a public client with client_credentials',
    ['--public'],
    /--grant client_credentials is for clients that authenticate/,
  ],
  [
    'a redirect URI without TLS',
    ['--grant', 'authorization_code', '--redirect-uri', 'http://app.example/'],
    /--redirect-uri: .*http is only for 127\.0\.0\.1/,
  ],
  [
    'authorization codes without a redirect URI',
    ['--grant', 'authorization_code'],
    /--grant authorization_code needs --redirect-uri URI/,
  ],
  ['an unknown grant', ['--grant', 'password'], /--grant takes one of client_credentials, /],
  [
    'a public client with a secret',
    ['--public', '--auth-method', 'client_secret_post'],
    /--public excludes --auth-method client_secret_post/,
  ],
  [
    'an unknown authentication method',
    ['--auth-method', 'client_secret_jwt'],
    /--auth-method takes one of client_secret_/,
  ],
  [
    'certificate authentication without a subject',
    ['--auth-method', 'tls_client_auth'],
    /--auth-method tls_client_auth needs --certificate FILE or --subject-dn DN/,
  ],
  [
    'self-signed certificate authentication without a key',
    ['--auth-method', 'self_signed_tls_client_auth'],
    /needs --certificate FILE or --jwks-uri URI/,
  ],
  [
    'a subject for a client with a secret',
    ['--subject-dn', 'CN=a'],
    /--subject-dn is for --auth-method tls_client_auth/,
  ],
  [
    'a certificate for a client with a secret',
    ['--certificate', 'a.pem'],
    /--certificate is for --auth-method tls_client_auth or/,
  ],
  [
    'keys for a client with a secret',
    ['--jwks-uri', 'https://a.example/'],
    /--jwks-uri is for --auth-method private_key_jwt or/,
  ],
  [
    'both a subject and a certificate',
    ['--auth-method', 'tls_client_auth', '--subject-dn', 'CN=a', '--certificate', 'a.pem'],
    /--certificate excludes --subject-dn/,
  ],
  [
    'a subject in reverse order',
    ['--auth-method', 'tls_client_auth', '--subject-dn', 'C=DE,CN=a'],
    /--subject-dn: is in reverse order: RFC 4514 writes it as CN=a,C=DE/,
  ],
  ['an unknown profile', ['--profile', 'fapi1'], /--profile takes fapi2/],
  [
    'a secret under the profile',
    ['--profile', 'fapi2', '--auth-method', 'client_secret_basic'],
    /--profile fapi2 takes --auth-method private_key_jwt/,
  ],
  [
    'a redirect URI to localhost under the profile',
    ['--profile', 'fapi2', '--grant', 'authorization_code', '--redirect-uri', 'http://localhost/callback'],
    /--profile fapi2 takes http in --redirect-uri only on 127\.0\.0\.1/,
  ],
]

/** Runs in the process of the test, because a refusal prints nothing. */
const refusalOf = (args: readonly string[]): string => {
  try {
    clientNewCommand.run(['--id', 'app', '--grant', 'client_credentials', ...args])
    return 'not refused'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

for (const [says, args, message] of refusals) {
  t.test(`client new refuses ${says}, and the message names the options`, async t => {
    const refusal = refusalOf(args)

    t.match(refusal, message)
    t.notMatch(refusal, /redirect_uris|grant_types|token_endpoint_auth_method|tls_client_auth_subject_dn/)
  })
}

t.test('the message for an unreadable certificate names its file', async t => {
  const read = (file: string) => refusalOf(['--auth-method', 'tls_client_auth', '--certificate', file])
  const { keyFile } = certificates.client

  t.equal(read('/absent.pem'), '/absent.pem cannot be read (ENOENT)')
  t.equal(read(keyFile), `${keyFile} contains no certificate`)
})
