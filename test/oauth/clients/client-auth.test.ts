import t from 'tap'
import { hashGeneratedSecret, hashSecret, verifySecretHash } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { answer, basic, client, emptyRequest, publicClient, startServer } from '../support/authorization-server.ts'

const grant = { grant_type: 'client_credentials' }
/** The CPU time of an attempt in this process, all threads together. */
const cpuMicros = async (attempt: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  await attempt()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

const invalidClient = { status: 401, body: { error: 'invalid_client' } }

t.test(
  'failed authentication is 401 with WWW-Authenticate, by header or by body (RFC 6749 section 5.2; checklist 13)',
  async t => {
    const { token } = await startServer(t)

    for (const answer of [
      await token(grant, { request: { authorization: [basic('app', 'wrong')] } }),
      await token({ ...grant, client_id: 'app', client_secret: 'wrong' }, {}),
      await token(grant, {}),
      await token({ ...grant, client_id: 'app' }, {}),
      await token({ ...grant, client_secret: 'app-secret' }, {}),
      await token(grant, { request: { authorization: ['Bearer abc'] } }),
    ]) {
      t.match(answer, { ...invalidClient, headers: { 'www-authenticate': /^Basic realm="/ } })
    }
  },
)

t.test('both halves of HTTP Basic are form-urldecoded (RFC 6749 section 2.3.1; checklist 14)', async t => {
  const odd = client('a:b c+d%', { secrets: [{ kind: 'plain', value: new Secret('p&s=%+ :') }] })
  const { token } = await startServer(t, { clients: [odd] })
  const raw = (text: string) => ({ request: { authorization: [`Basic ${Buffer.from(text).toString('base64')}`] } })

  t.match(await token(grant, raw('a%3Ab+c%2Bd%25:p%26s%3D%25%2B+%3A')), { status: 200 })
  t.match(await token(grant, raw('a%3Ab%20c%2Bd%25:p%26s%3D%25%2B%20%3A')), { status: 200 }, '%20 is a space too')
  t.match(await token(grant, raw('a%3Ab+c%2Bd%25:p%26s%3D%25++%3A')), invalidClient, 'a plus sign is a space')
})

t.test(
  'a malformed header gets 401, never 500, and the scheme is case-insensitive (RFC 7617 section 2; checklist 15)',
  async t => {
    const { token } = await startServer(t)
    const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
    const malformed = [
      '',
      'Basic',
      'Basic ',
      'Basic !!!!',
      'Basic YXBw',
      `Basic ${base64('app')}`,
      `Basic ${base64('app:app-secret%')}`,
      `Basic ${base64('app:%zz')}`,
      `Basic ${base64('app:%ff')}`,
      `Basic ${base64(Buffer.from([0x61, 0x3a, 0xff, 0xfe]))}`,
      `Basic ${base64('app:app-secret').replace(/=*$/, '')}!`,
      `Basic ${base64('app:app-secret')} x`,
      `Digest ${base64('app:app-secret')}`,
    ]

    for (const line of malformed)
      t.match(await token(grant, { request: { authorization: [line] } }), invalidClient, line)
    t.match(await token(grant, { request: { authorization: [`bAsIc ${base64('app:app-secret')}`] } }), { status: 200 })
  },
)

t.test('two mechanisms at once are an invalid_request (RFC 6749 section 2.3; checklist 16)', async t => {
  const { token } = await startServer(t)
  const header = basic('app', 'app-secret')
  const invalidRequest = { status: 400, body: { error: 'invalid_request' } }

  t.match(await token({ ...grant, client_secret: 'app-secret' }, { as: 'app' }), invalidRequest)
  t.match(await token({ ...grant, client_assertion: 'a.b.c' }, { as: 'app' }), invalidRequest)
  t.match(await token({ ...grant, client_secret: 's', client_assertion: 'a.b.c' }, {}), invalidRequest)
  t.match(await token(grant, { request: { authorization: [header, header] } }), invalidRequest)
})

t.test(
  'a client_id in the body must be that of the authenticated client (RFC 6749 section 3.2.1; checklist 17)',
  async t => {
    const { token } = await startServer(t)

    t.match(await token({ ...grant, client_id: 'other' }, { as: 'app' }), {
      status: 400,
      body: { error: 'invalid_request' },
    })
    t.match(await token({ ...grant, client_id: 'app' }, { as: 'app' }), { status: 200 })
  },
)

t.test('an unknown client and a wrong secret get the same answer (RFC 6749 section 10.10; checklist 18)', async t => {
  const { token } = await startServer(t)
  const ask = (authorization: string) => token(grant, { request: { authorization: [authorization] } })

  const unknown = await ask(basic('nobody', 'app-secret'))

  t.match(unknown, invalidClient)
  t.same(await ask(basic('app', 'wrong')), unknown)
  t.same(await ask(basic('spa', '')), unknown, 'and so does a public client that claims a secret')
  t.same(await token({ ...grant, client_id: 'nobody', client_secret: 'x' }, {}), unknown)
})

t.test('if one client has a slow hash, every failure takes as long (RFC 6749 section 10.10; checklist 18)', async t => {
  const value = new Secret(await hashSecret(new Secret('correct horse')))
  const slow = client('slow', { secrets: [{ kind: 'hash', value }] })
  const { token } = await startServer(t, { clients: [slow, client('app')] })
  const leastCpu = async (attempt: (i: number) => unknown): Promise<number> =>
    Math.min(await cpuMicros(() => attempt(1)), await cpuMicros(() => attempt(2)), await cpuMicros(() => attempt(3)))
  const oneHash = await leastCpu(i => verifySecretHash(new Secret(`wrong-${i}`), value))

  for (const client_id of ['nobody', 'app', 'slow']) {
    const wrong = (i: number) => token(grant, { request: { authorization: [basic(client_id, `guess-${i}`)] } })
    const spent = await leastCpu(wrong)
    t.ok(spent > oneHash / 2, `${client_id} costs one slow hash (${spent} µs, a hash ${oneHash} µs)`)
  }
})

t.test(
  'secrets of any length are compared, the empty and the longer one too (RFC 6749 section 10.10; checklist 19)',
  async t => {
    const { token } = await startServer(t)

    for (const secret of ['', 'a', 'app-secre', 'app-secret ', 'app-secretapp-secret', 'é'.repeat(500)]) {
      t.match(await token(grant, { request: { authorization: [basic('app', secret)] } }), invalidClient, secret)
    }
  },
)

t.test('a client uses its registered method and no other (RFC 7591 section 2; checklist 20)', async t => {
  const clients = [client('app'), client('poster', { token_endpoint_auth_method: 'client_secret_post' })]
  const { token } = await startServer(t, { clients })

  t.match(await token({ ...grant, client_id: 'poster', client_secret: 'poster-secret' }, {}), { status: 200 })
  t.match(await token(grant, { as: 'poster' }), invalidClient)
  t.match(await token({ ...grant, client_id: 'app', client_secret: 'app-secret' }, {}), invalidClient)
})

t.test('every stored form of a secret authenticates the client', async t => {
  const quick = new Secret(hashGeneratedSecret(new Secret('quick-secret')))
  const slow = new Secret(await hashSecret(new Secret('slow-secret')))
  const clients = [
    client('quick', { secrets: [{ kind: 'hash', value: quick }] }),
    client('slow', { secrets: [{ kind: 'hash', value: slow }] }),
  ]
  const { token } = await startServer(t, { clients })

  for (const client_id of ['quick', 'slow']) {
    t.match(await token(grant, { as: client_id }), { status: 200 }, client_id)
    t.match(await token(grant, { request: { authorization: [basic(client_id, 'wrong')] } }), invalidClient, client_id)
  }
})

t.test(
  'concurrent guesses get the same number of attempts as sequential ones (RFC 6749 section 2.3.1; checklist 24)',
  async t => {
    const value = new Secret(await hashSecret(new Secret('app-secret')))
    const { token } = await startServer(t, { clients: [client('app', { secrets: [{ kind: 'hash', value }] })] })
    const secrets = [...Array.from({ length: 15 }, (_, i) => `guess-${i}`), 'app-secret']

    const answers = await Promise.all(
      secrets.map(secret => token(grant, { request: { authorization: [basic('app', secret)] } })),
    )

    t.equal(answers.filter(({ status }) => status === 401).length, 10)
    t.match(answers.at(-1), { status: 429 }, 'the right secret comes after too many guesses')
  },
)

t.test(
  'after ten wrong secrets only this client at this address is refused (RFC 6749 section 2.3.1; checklist 24)',
  async t => {
    const { token, clock } = await startServer(t)
    const wrong = { request: { authorization: [basic('app', 'wrong')] } }

    for (let i = 0; i < 10; i++) t.match(await token(grant, wrong), invalidClient)

    const refusal = { status: 429, headers: { 'retry-after': '60' }, body: { error: 'rate_limit_exceeded' } }
    t.match(await token(grant, wrong), refusal)
    t.match(await token(grant, { as: 'app' }), refusal, 'the right secret too')
    t.match(await token(grant, { as: 'app', request: { address: '192.0.2.2' } }), { status: 200 })
    t.match(await token(grant, { as: 'other' }), { status: 200 })
    clock.advanceSec(60)
    t.match(await token(grant, { as: 'app' }), { status: 200 }, 'and the wait ends')
  },
)

t.test(
  'the metadata operation accepts a secret in the query or by Basic from every client with a secret (RFC 6749 section 2.3.1; checklist 95)',
  async t => {
    const clients = [
      client('app'),
      client('poster', { token_endpoint_auth_method: 'client_secret_post' }),
      publicClient('spa'),
    ]
    const { server } = await startServer(t, { clients })
    const ask = (query: string, authorization: readonly string[] = []) =>
      answer(async () => {
        const { client_id } = await server.authenticateQuery({ ...emptyRequest, method: 'GET', query, authorization })
        return { status: 200, headers: {}, body: { client_id } }
      })
    const missing = await ask('')

    t.match(await ask('client_id=app&client_secret=app-secret'), { status: 200, body: { client_id: 'app' } })
    t.match(await ask('client_id=poster&client_secret=poster-secret'), { status: 200, body: { client_id: 'poster' } })
    t.match(await ask('', [basic('poster', 'poster-secret')]), { status: 200, body: { client_id: 'poster' } })
    t.match(missing, invalidClient)
    t.same(await ask('client_id=app&client_secret=wrong'), missing)
    t.same(await ask('client_id=app'), missing)
    t.same(await ask('client_id=spa&client_secret='), missing)
    t.same(await ask('client_id=nobody&client_secret=x'), missing)
    const good = 'client_id=app&client_secret=app-secret'
    t.match(await ask(`${good}${'&a=1'.repeat(98)}`), { status: 200 })
    for (const query of [`${good}&client_id=app`, 'client_id=%ff', `${good}&%`, `${good}${'&a=1'.repeat(99)}`]) {
      t.match(await ask(query), { status: 400, body: { error: 'invalid_request' } }, query)
    }
    t.match(await ask('client_id=app&client_secret=app-secret', [basic('app', 'app-secret')]), { status: 400 })
  },
)
