import t from 'tap'
import { hashSecret, isSecretHash, verifySecretHash } from '../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../src/secret.ts'
import { acceptedConfig, problemsOf } from '../config/support.ts'
import { countLines, sidegate } from './run.ts'

const indented = (output: string): string => output.slice(output.indexOf('  - client_id'))

t.test('hash prints the stored form of what it reads, without the newline at the end', async t => {
  const { code, stdout } = await sidegate(['hash'], { input: 'wonderland\n' })

  t.equal(code, 0)
  t.equal(countLines(stdout), 1)
  t.match(stdout, /^scrypt\$ln=15,r=8,p=1\$/)
  const stored = new Secret(stdout.trimEnd())
  t.ok(await verifySecretHash(new Secret('wonderland'), stored))
  t.notOk(await verifySecretHash(new Secret('wonderland\n'), stored))
})

t.test('hash strips one newline only', async t => {
  const { stdout } = await sidegate(['hash'], { input: 'wonderland\n\n' })

  t.ok(await verifySecretHash(new Secret('wonderland\n'), new Secret(stdout.trimEnd())))
})

t.test('hash of nothing is a failure', async t => {
  t.match(await sidegate(['hash'], { input: '\n' }), { code: 1, stdout: '', stderr: /no secret on standard input/ })
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
  const config = await acceptedConfig(t, `clients:\n${indented(stdout)}`)
  t.match(config.oauth.clients, [
    {
      client_id: 'shop',
      client_name: 'The shop',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://shop.example.com/callback'],
      scope: ['read', 'write'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ])
  const stored = config.oauth.clients[0]?.secrets[0]?.value
  t.ok(stored && isSecretHash(stored.reveal()) && (await verifySecretHash(new Secret(secret), stored)))
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
  t.same(await problemsOf(t, `clients:\n${indented(stdout)}`), [])
})

t.test('a client that signs gets a new key: the private one is shown once, the YAML has the public one', async t => {
  const { code, stdout } = await sidegate([
    ...['client', 'new', '--id', 'app', '--grant', 'client_credentials', '--auth-method', 'private_key_jwt'],
  ])

  t.equal(code, 0)
  const [, shown = ''] = /^private_jwk: (\{.*\}) {2}# shown this once/m.exec(stdout) ?? []
  const key: { readonly d: string } = JSON.parse(shown)
  t.equal(stdout.split(key.d).length, 2, 'it stands there once')
  const [registered] = (await acceptedConfig(t, `clients:\n${indented(stdout)}`)).oauth.clients
  const { d, ...publicHalf } = key
  t.same(registered?.keys, { kind: 'jwks', jwks: { keys: [publicHalf] } })
  t.equal(registered?.token_endpoint_auth_method, 'private_key_jwt')
})

t.test('a client with a certificate gets nothing new, and is known by its name', async t => {
  const { code, stdout } = await sidegate([
    ...['client', 'new', '--id', 'bank', '--grant', 'client_credentials', '--auth-method', 'tls_client_auth'],
    ...['--subject-dn', 'CN=bank,O=Example'],
  ])

  t.equal(code, 0)
  t.match(stdout, /^# paste under clients:\n {2}- client_id: bank\n {4}tls_client_auth_subject_dn: CN=bank,O=Example\n/)
})

t.test('client new refuses what the check would refuse', async t => {
  const publicMachine = await sidegate(['client', 'new', '--id', 'app', '--public', '--grant', 'client_credentials'])
  const redirect = await sidegate([
    ...['client', 'new', '--id', 'app', '--grant', 'authorization_code', '--redirect-uri', 'http://app.example/'],
  ])
  const method = await sidegate([
    ...[
      'client',
      'new',
      '--id',
      'app',
      '--grant',
      'client_credentials',
      '--public',
      '--auth-method',
      'client_secret_post',
    ],
  ])

  const unnamed = await sidegate([
    ...['client', 'new', '--id', 'app', '--grant', 'client_credentials', '--auth-method', 'tls_client_auth'],
  ])

  t.match(unnamed, { code: 2, stdout: '', stderr: /tls_client_auth_subject_dn: missing; give one of/ })
  t.match(publicMachine, { code: 2, stdout: '', stderr: /client_credentials is for clients that prove themselves/ })
  t.match(redirect, { code: 2, stdout: '', stderr: /http is for 127\.0\.0\.1/ })
  t.match(method, { code: 2, stdout: '', stderr: /--public excludes --auth-method/ })
})

t.test('what hash prints serves as client_secret_hash and as password_hash', async t => {
  const stored = await hashSecret(new Secret('chosen'))

  t.same(
    await problemsOf(t, {
      clients: [{ client_id: 'a', client_secret_hash: stored, grant_types: ['client_credentials'] }],
      login: { users: [{ username: 'u', password_hash: stored }] },
    }),
    [],
  )
})
