import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { formatProblem, loadConfig, type SidegateConfig } from '../../../src/config/load.ts'
import { privateJwk, publicJwk } from '../keys.ts'
import { acceptedConfig, client, hash, makeFolder, problemsOf, writeConfig } from '../support.ts'

const secretOf = ({ oauth }: SidegateConfig): string | undefined => {
  const [first] = oauth.clients
  return first?.secrets[0]?.value.reveal()
}

t.test('the message for YAML that cannot be parsed has the place and the reason', async t => {
  t.same(await problemsOf(t, 'listen: "127.0.0.1:8080\nissuer: x\n'), [
    '3:1: a colon, comma, quote or closing bracket is missing here',
  ])
  t.match(await problemsOf(t, 'store: memory:\n'), [
    /^1:8: .*put a text that contains ": " or ends with a colon in quotes/,
  ])
  t.match(await problemsOf(t, 'listen:\n\t- a\n'), [/^2:1: YAML cannot be indented with tabs/])
  t.match(await problemsOf(t, 'listen: *nobody\n'), [
    /^1:9: there is no complete value above with the anchor of this alias/,
  ])
  t.match(await problemsOf(t, 'listen: !custom 127.0.0.1:80\n'), [/^1:9: unknown tag/])
  for (const tag of ['binary', 'timestamp', 'set', 'omap', 'pairs', 'merge'])
    for (const key of ['store', 'product', 'clients'])
      t.same(await problemsOf(t, `${key}: !!${tag} aGVsbG8=\n`), [`1:${key.length + 3}: unknown tag; remove it`])
  t.match(await problemsOf(t, 'clients: []\n---\nclients: []\n'), [/^2:1: the file has a second document/])
})

t.test('a problem in the YAML is reported without the text of its line', async t => {
  const problems = await problemsOf(t, 'clients:\n  - client_secret: "hunter2\\q"\n    x: {hunter2: [}\n')

  t.ok(problems.length > 0)
  t.notMatch(problems.join(), /hunter2/)
})

t.test('a duplicate key is reported together with all other problems', async t => {
  t.match(await problemsOf(t, 'workers: 1\nworkers: 2\nlisten: 8080\n'), [
    /^2:1: this key occurs twice/,
    /^3:9: listen: must be host:port/,
  ])
})

t.test('an alias has the value of its anchor, but an anchor cannot contain itself', async t => {
  const config = await acceptedConfig(t, 'listen: &all "127.0.0.1:0"\nadmin: *all\n')

  t.same(config.admin, config.listen)
  t.match(await problemsOf(t, 'product: &p\n  name: *p\n'), [
    /^2:9: there is no complete value above with the anchor of this alias/,
  ])
})

t.test('aliases of aliases do not multiply without end', async t => {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `  l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(9)}]`,
  )
  const bomb = ['product:', '  l0: &l0 [x, x, x, x, x, x, x, x, x]', ...levels, ''].join('\n')

  const problems = await problemsOf(t, bomb)

  t.equal(
    problems.filter(problem => /too many aliases, those inside aliases counted each time/.test(problem)).length,
    1,
  )
})

t.test('a variable replaces its reference anywhere in a text', async t => {
  const env = { HOST: 'redis', PORT: '6380', WORKERS: '3', STRIP: 'true', EMPTY: '' }
  const config = await acceptedConfig(
    t,
    {
      workers: `\${WORKERS}`,
      store: `redis://\${HOST}:\${PORT}/\${DB:-0}`,
      issuer: `\${EMPTY:-https://auth.example.com}`,
      clients: [client({ client_secret: `literal $\${HOST} and $5` })],
    },
    env,
  )

  t.equal(config.workers, 3)
  t.equal(config.store.kind === 'redis' && config.store.url.reveal(), 'redis://redis:6380/0')
  t.equal(config.issuer, 'https://auth.example.com')
  t.equal(secretOf(config), `literal \${HOST} and $5`)
})

t.test('references in the value of a variable are not replaced', async t => {
  const config = await acceptedConfig(t, { clients: [client({ client_secret: `\${A}` })] }, { A: `\${B}`, B: 'no' })

  t.equal(secretOf(config), `\${B}`)
})

t.test('a variable that is not set is a problem unless it has a default', async t => {
  t.match(await problemsOf(t, { clients: [client({ client_secret: `\${SHOP}` })] }), [
    /^3:20: clients\[0\]\.client_secret: the environment variable SHOP is not set/,
  ])
  t.same(await problemsOf(t, { clients: [client({ client_secret: `\${SHOP:-x}` })] }), [])
})

t.test('a name that every object inherits is a variable that is not set', async t => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    const [problem = ''] = await problemsOf(t, { clients: [client({ client_secret: `\${${name}}` })] })
    t.ok(problem.includes(`the environment variable ${name} is not set`), name)
  }
})

t.test('the message for a malformed reference shows how to write one', async t => {
  t.match(await problemsOf(t, { issuer: `http://\${1}` }), [/^1:9: issuer: is not a reference; write \$\{NAME\}/])
})

t.test('a secret may be in a file beside the configuration; one trailing newline is not part of it', async t => {
  const file = writeConfig(t, { clients: [client({ client_secret: undefined, client_secret_file: 'shop.secret' })] })
  writeFileSync(join(dirname(file), 'shop.secret'), 'from file\n\n')

  const loaded = await loadConfig(file, {})

  t.match(loaded, { ok: false, problems: [{ message: /printable ASCII/ }] }, 'the second newline is part of it')
  writeFileSync(join(dirname(file), 'shop.secret'), 'from file\n')
  const again = await loadConfig(file, {})
  t.ok(again.ok)
  t.equal(again.ok && secretOf(again.config), 'from file')
})

t.test('the address of the store and stored forms may also be in files', async t => {
  const folder = makeFolder(t)
  const hash = 'sha256$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  writeFileSync(join(folder, 'hash'), `${hash}\n`)
  writeFileSync(join(folder, 'store'), 'redis://:password@redis:6379\n')

  const config = await acceptedConfig(t, {
    store_file: join(folder, 'store'),
    clients: [client({ client_secret: undefined, client_secret_hash_file: join(folder, 'hash') })],
    login: { users: [{ username: 'alice', password_hash_file: join(folder, 'hash') }] },
  })

  t.equal(config.store.kind, 'redis')
  const [hashed] = config.oauth.clients
  t.match(hashed?.secrets[0], { kind: 'hash' })
  t.equal(config.oauth.users[0]?.password_hash.reveal(), hash)
})

t.test('a secret file that is missing, or beside the secret itself, is a problem at its own line', async t => {
  const file = writeConfig(t, { clients: [client({ client_secret: undefined, client_secret_file: 'absent' })] })
  t.match(await loadConfig(file, {}), {
    problems: [
      {
        line: 5,
        column: 25,
        message:
          'clients[0].client_secret_file: does not name a readable file, relative to the folder of the configuration (ENOENT), or give the value itself as client_secret',
      },
    ],
  })
  t.match(await problemsOf(t, { clients: [client({ client_secret_file: 'absent' })] }), [
    /client_secret_file: client_secret is set as well/,
  ])
})

t.test('no problem repeats a secret, however wrong it is', async t => {
  const folder = makeFolder(t)
  writeFileSync(join(folder, 'secret'), 'hunter2\u00e9')
  const file = writeConfig(t, {
    store: 'redis://:hunter2@[nowhere',
    clients: [
      client({ client_secret: 'hunter2\u00e9' }),
      client({ client_id: 'b', client_secret_hash: 'hunter2', client_secret: undefined }),
      client({ client_id: 'c', client_secret: undefined, client_secret_file: join(folder, 'secret') }),
      client({ client_id: 'd', client_secret: `\${E}` }),
      client({ client_id: 'e', client_secret: undefined, client_secret_file: 'hunter2' }),
    ],
    login: { users: [{ username: 'alice', password_hash_file: 'hunter2' }] },
    tls: { cert_file: '-----BEGIN PRIVATE KEY-----\nhunter2\n', key_file: 'hunter2' },
  })

  const loaded = await loadConfig(file, { E: 'hunter2\u00e9' })

  t.equal(loaded.ok ? 0 : loaded.problems.length, 9)
  t.notMatch(loaded.ok ? '' : loaded.problems.map(formatProblem).join(), /hunter2/)
})

t.test('no problem repeats text in a place where a key should be', async t => {
  const word = 'client_secret hunter2'
  const key = (extra: object = {}) => ({ ...publicJwk('ES256'), ...extra })
  const content = {
    [word]: 1,
    'client_secret:hunter2': 1,
    tokens: { code: { [word]: 1 } },
    clients: [
      client({ [word]: 1, plan: 'none-such', client_secrets: [{ client_secret: 'x', [word]: 1 }] }),
      client({ client_id: 'b', jwks: { keys: [key({ [word]: 1 })], [word]: 1 } }),
    ],
    plans: { gold: { rate: '1/1second', operations: { [word]: '1/1second' } }, [word]: { rate: '1/1second' } },
    upstreams: { [word]: { targets: ['http://127.0.0.1:1'] } },
    groupings: [{ name: 'G', [word]: 1, operations: [{ method: 'GET', path: '/a', upstream: 'no', [word]: 1 }] }],
    scopes: { [word]: 'Read' },
    login: { [word]: 1, users: [{ username: 'alice', password_hash: hash, [word]: 1 }] },
    internal: { listen: '127.0.0.1:9443', jwks: { keys: [key()] }, [word]: 1 },
  }

  const problems = await problemsOf(t, content)

  t.notMatch(problems.join('\n'), /hunter2/)
  for (const place of ['', 'tokens.code.', 'clients[0].', 'clients[0].client_secrets[0].', 'login.', 'login.users[0].'])
    t.ok(
      problems.some(problem => problem.includes(` ${place}(a key): unknown key`)),
      place || 'root',
    )
  for (const place of ['groupings[0].', 'groupings[0].operations[0].', 'internal.', 'plans.', 'upstreams.', 'scopes.'])
    t.ok(
      problems.some(problem => problem.includes(` ${place}(a key): `)),
      place,
    )
})

t.test('a missing colon is the only problem, with its place and the key that was meant', async t => {
  t.same(
    await problemsOf(t, 'clients:\n  - { client_id: a, grant_types: [client_credentials], client_secret hunter2 }\n'),
    ['2:56: clients[0].(a key): unknown key; did you mean client_secret, with a colon and a space before its value?'],
  )
})

t.test('no problem repeats a member of a private key, wherever the key is', async t => {
  const { d: member, ...rest } = privateJwk('ES256')
  const d = String(member)
  const jwks = { keys: [{ ...rest, d }] }
  const signing = { keys: [{ ...rest, d, alg: 'EdDSA', [d]: d }] }
  const known = { client_secret: undefined, token_endpoint_auth_method: 'private_key_jwt' }

  const problems = [
    ...(await problemsOf(t, { clients: [client({ ...known, jwks }), client({ client_id: 'b', [d]: d })] })),
    ...(await problemsOf(t, { clients: [client({ ...known, jwks: JSON.stringify(jwks) })], keys: { jwks: signing } })),
    ...(await problemsOf(t, { internal: { listen: '127.0.0.1:9443', jwks }, keys: { jwks: JSON.stringify(signing) } })),
  ]

  t.ok(problems.length >= 6)
  t.notMatch(problems.join('\n'), d)
})
