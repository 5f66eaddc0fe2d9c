import t, { type Test } from 'tap'
import { client, clientSecret, fetchToken, oauth, sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { headersOf, type RawAnswer } from '../support/raw-answer.ts'
import { ask } from '../support/raw-client.ts'
import { fieldOf, startStrictUpstream } from '../support/recording-upstream.ts'

/** Answers to a raw GET with these header lines. */
const get = (url: string, target: string, ...lines: readonly string[]): Promise<RawAnswer> =>
  ask(url, [`GET ${target} HTTP/1.1`, 'Host: gw.test', ...lines, '', ''].join('\r\n'))

const bearer = (token: string): string => `Authorization: Bearer ${token}`

/** The token with one character of its signature changed. */
const forged = (token: string): string => {
  const at = token.length - 10
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}

/** The token with other claims under the same signature. */
const withClaims = (token: string, claims: object): string => {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ...claims }
  return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.')
}

interface Refusal {
  readonly status: number
  readonly code: string
  readonly challenges: readonly string[]
}

const isRefused = async (t: Test, asked: Promise<RawAnswer>, { status, code, challenges }: Refusal): Promise<void> => {
  const answer = await asked
  t.equal(answer.status, status)
  t.match(JSON.parse(answer.body.toString()), { status, code, request_id: String })
  t.same(headersOf(answer, 'www-authenticate'), challenges)
}

t.test('a request without a valid token gets the reason, and the upstream gets nothing', async t => {
  const upstream = await startStrictUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url })
  const { url } = gateway
  const token = await fetchToken(url)
  const metadata = `resource_metadata="${await issuerOf(url)}/.well-known/oauth-protected-resource/up-guarded"`
  const bearerChallenge = (error = ''): string => `Bearer realm="sidegate"${error}, ${metadata}`
  const dpopChallenge = `DPoP realm="sidegate", algs="ES256 PS256 EdDSA", ${metadata}`
  const missing = { status: 401, code: 'CREDENTIAL_MISSING', challenges: [bearerChallenge(), dpopChallenge] }
  const invalid = {
    status: 401,
    code: 'CREDENTIAL_INVALID',
    challenges: [
      bearerChallenge(
        ', error="invalid_token", error_description="expired, revoked, for another resource or not issued here"',
      ),
      dpopChallenge,
    ],
  }
  const malformed = {
    status: 400,
    code: 'CREDENTIAL_MALFORMED',
    challenges: [bearerChallenge(', error="invalid_request"')],
  }

  await t.test('no token, or another scheme: 401 without an error code (RFC 6750 section 3.1)', async t => {
    await isRefused(t, get(url, '/up-guarded/x'), missing)
    await isRefused(t, get(url, '/up-guarded/x', `Authorization: Basic ${btoa(`app:${clientSecret}`)}`), missing)
  })

  await t.test('a token that is not ours, forged or changed: 401 invalid_token', async t => {
    await isRefused(t, get(url, '/up-guarded/x', bearer('nothing')), invalid)
    await isRefused(t, get(url, '/up-guarded/x', bearer(forged(token))), invalid)
    await isRefused(t, get(url, '/up-guarded/x', bearer(withClaims(token, { scope: 'read write admin' }))), invalid)
    const unsigned = `${btoa('{"alg":"none","typ":"at+jwt"}').replaceAll('=', '')}.${token.split('.')[1]}.`
    await isRefused(t, get(url, '/up-guarded/x', bearer(unsigned)), invalid)
  })

  await t.test('malformed, sent twice or in the query: 400 invalid_request', async t => {
    await isRefused(t, get(url, '/up-guarded/x', 'Authorization: Bearer'), malformed)
    await isRefused(t, get(url, '/up-guarded/x', `Authorization: Bearer ${token} ${token}`), malformed)
    await isRefused(t, get(url, '/up-guarded/x', 'Authorization: Bearer "quoted"'), malformed)
    await isRefused(t, get(url, '/up-guarded/x', bearer(token), bearer(token)), malformed)
    await isRefused(t, get(url, `/up-guarded/x?access_token=${token}`), malformed)
    await isRefused(t, get(url, `/up-guarded/x?access_token=${token}`, bearer(token)), malformed)
    await isRefused(t, get(url, `/up-guarded/x?access%5Ftoken=${token}`, bearer(token)), malformed)
  })

  await t.test('a token for another resource: 401 invalid_token', async t => {
    const elsewhere = await fetchToken(url, { resource: new URL('/up', await issuerOf(url)).href })

    await isRefused(t, get(url, '/up-guarded/x', bearer(elsewhere)), invalid)
  })

  await t.test('a token without the scope: 403 that names it', async t => {
    const narrow = await fetchToken(url, { scope: 'write' })

    await isRefused(t, get(url, '/up-guarded/x', bearer(narrow)), {
      status: 403,
      code: 'SCOPE_INSUFFICIENT',
      challenges: [bearerChallenge(', error="insufficient_scope", scope="read"')],
    })
  })

  t.same(upstream.requests, [], 'nothing of all this went upstream')

  await t.test('a good token passes, its scheme in any case, and stays at the gateway', async t => {
    for (const line of [bearer(token), `authorization: bEARER ${token}`]) {
      t.equal((await get(url, '/up-guarded/x', line)).status, 200)
      const seen = upstream.requests.at(-1)
      t.equal(fieldOf(seen, 'authorization'), undefined)
      t.equal(fieldOf(seen, 'x-sidegate-client-id'), 'app')
      t.equal(fieldOf(seen, 'x-sidegate-subject'), 'app')
      t.equal(fieldOf(seen, 'x-sidegate-scope'), 'read write')
      t.equal(fieldOf(seen, 'x-sidegate-grouping'), 'up-guarded')
    }
  })

  await t.test('a token for the very resource passes', async t => {
    const narrow = await fetchToken(url, { resource: new URL('/up-guarded', await issuerOf(url)).href })

    t.equal((await get(url, '/up-guarded/x', bearer(narrow))).status, 200)
  })

  await t.test('checks are counted by result, and no token was logged', async t => {
    const metrics = await scrape(gateway)
    for (const result of ['ok', 'missing', 'refused']) {
      t.ok(sampleOf(metrics, 'sidegate_credential_checks_total', '"up-guarded"', '"bearer"', `"${result}"`) > 0, result)
    }
    t.notMatch(gateway.output.join('\n') + metrics, token.split('.')[1] ?? '')
  })
})

const issuerOf = async (url: string): Promise<string> => {
  const answer = await ask(
    url,
    `GET /metadata?client_id=app&client_secret=${clientSecret} HTTP/1.1\r\nHost: gw.test\r\n\r\n`,
  )
  return (JSON.parse(answer.body.toString()) as { issuer: string }).issuer
}

for (const format of ['jwt', 'opaque']) {
  t.test(`a ${format} token expires, and revoked it is refused by every worker within a second`, async t => {
    const upstream = await startStrictUpstream(t)
    const gateway = await startGateway(
      t,
      { up: upstream.url },
      { store: 'sqlite:sidegate.db', workers: 2, tokens: { accessToken: { format, lifetime: '3s' } } },
    )
    const { url } = gateway
    const statuses = async (token: string): Promise<ReadonlySet<number>> => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => get(url, '/up-guarded/x', bearer(token), 'Connection: close')),
      )
      return new Set(answers.map(({ status }) => status))
    }
    const revoked = await fetchToken(url)
    const issuedAtMs = performance.now()
    const kept = await fetchToken(url)
    t.same(await statuses(revoked), new Set([200]))

    await fetch(`${url}/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`app:${clientSecret}`)}` },
      body: new URLSearchParams({ token: revoked }),
    })
    const revokedAtMs = performance.now()
    await eventually(async () => (await statuses(revoked)).has(200) === false, 1000)

    t.ok(performance.now() - revokedAtMs < 1000, 'revoked within a second')
    t.same(await statuses(revoked), new Set([401]))
    t.same(await statuses(kept), new Set([200]), 'another token of the same client goes on')
    await eventually(async () => (await statuses(kept)).has(200) === false)
    t.ok(performance.now() - issuedAtMs > 2000, 'it lived as long as it said')
  })
}

t.test('Authorization is forwarded if the operation is configured to', async t => {
  const upstream = await startStrictUpstream(t)
  const { url } = await startGateway(
    t,
    { up: upstream.url },
    {
      groupings: [
        oauth,
        {
          name: 'Forwards',
          basePath: '/forwards',
          upstream: 'up',
          operations: [{ method: 'GET', path: '/**', forwardAuthorization: true }],
        },
      ],
      clients: [client('app')],
    },
  )
  const token = await fetchToken(url)

  t.equal((await get(url, '/forwards/x', bearer(token))).status, 200)
  t.equal(fieldOf(upstream.requests[0], 'authorization'), `Bearer ${token}`)
})
