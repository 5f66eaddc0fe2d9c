import t from 'tap'
import { systemClock } from '../../src/clock.ts'
import { rotateKeys } from '../../src/oauth/keys/rotate-keys.ts'
import { Secret } from '../../src/secret.ts'
import { openStore } from '../../src/stores/open.ts'
import { reload } from '../cluster/support/config-file.ts'
import { workerPid } from '../cluster/support/gateway.ts'
import { authorizationQuery, callback, enter, newCode, redeem } from '../oauth/checklist/support/browser.ts'
import { post } from '../oauth/support/post.ts'
import { operations, startOAuth } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { faultsOf, type LogLine, parseLines } from '../telemetry/support/log-line.ts'

const redis = await startRedis(t)
const client = {
  plan: 'wide',
  redirect_uris: [callback],
  scope: 'read write',
  grant_types: ['authorization_code', 'refresh_token'],
}
const clients = [
  {
    ...client,
    client_id: 'app',
    client_secret: 'app-secret',
    grant_types: ['client_credentials', ...client.grant_types],
  },
  { ...client, client_id: 'spa', token_endpoint_auth_method: 'none' },
  { client_id: 'noisy', client_secret: 'noisy-secret', plan: 'wide', grant_types: ['client_credentials'] },
  { client_id: 'busy', client_secret: 'busy-secret', grant_types: ['client_credentials'], plan: 'small' },
]
const gateway = await startOAuth(t, {
  workers: 2,
  store: redis.url,
  clients,
  plans: { wide: { rate: '1000/1second' }, small: { rate: '1/1hour' } },
  tokens: { refreshToken: { reuseWindow: '0s' } },
  groupings: [
    { name: 'OAuth', operations },
    { name: 'Dead', upstream: 'dead', operations: [{ method: 'GET', path: '/dead', credentials: 'none' }] },
  ],
  upstreams: { dead: { targets: ['http://127.0.0.1:1'] } },
})
const { url } = gateway
/** Texts that no line may contain. */
const secrets = ['app-secret', 'wonderland', 'guessed-password', 'typed-as-a-name']

const keep = <T>(secret: T): T => {
  if (typeof secret === 'string') secrets.push(secret)
  return secret
}

const auditLines = (action?: string): readonly LogLine[] =>
  parseLines(gateway.output).filter(line => line.event === 'audit' && (action === undefined || line.action === action))

/** The audit lines of this work, when as many as expected have come. Each worker writes its own, so they are sorted. */
const told = async (due: number, work: () => Promise<unknown>): Promise<readonly LogLine[]> => {
  const before = auditLines().length
  await work()
  await eventually(() => auditLines().length >= before + due)
  return auditLines()
    .slice(before)
    .toSorted((one, other) => Date.parse(String(one.time)) - Date.parse(String(other.time)))
}

/** Two that come within a millisecond have no order. */
const byAction = (lines: readonly LogLine[]): readonly LogLine[] =>
  lines.toSorted((one, other) => String(one.action).localeCompare(String(other.action)))

const token = (fields: Readonly<Record<string, string>>, as: string) => post(`${url}/token`, fields, as)
const claimsOf = (jwt: unknown) => JSON.parse(Buffer.from(String(jwt).split('.')[1] ?? '', 'base64url').toString())

t.test('the audit line of an issued token has its id, client and subject', async t => {
  let jti = ''
  const lines = await told(1, async () => {
    const { body } = await token({ grant_type: 'client_credentials', scope: 'read' }, 'app')
    jti = claimsOf(keep(body.access_token)).jti
  })

  const about = { client_id: 'app', sub: 'app', grant_type: 'client_credentials', format: 'jwt', scope: 'read' }
  t.match(lines, [{ level: 'info', action: 'token_issued', outcome: 'success', ...about, jti, address: '127.0.0.1' }])
  t.match(lines[0]?.request_id, /^[\da-f-]{36}$/)
})

t.test('the audit line of a failed client authentication has the reason, and the name of a known client', async t => {
  const fields = { grant_type: 'client_credentials' }
  const wrong = { ...fields, client_id: 'app', client_secret: 'guess' }
  const lines = await told(3, async () => {
    await post(`${url}/token`, fields, undefined, { authorization: `Basic ${btoa('app:guess')}` })
    await post(`${url}/token`, fields, 'typed-as-a-name')
    await post(`${url}/token`, wrong)
  })

  t.match(lines, [
    { level: 'warn', action: 'client_refused', outcome: 'failure', client_id: 'app', reason: 'bad_secret' },
    { action: 'client_refused', client_id: undefined, reason: 'unknown_client' },
    { action: 'client_refused', client_id: 'app', reason: 'auth_method_mismatch' },
  ])
})

t.test('each worker logs the failure that exceeds the limit, and not the refused attempts after it', async t => {
  const authorization = `Basic ${btoa('noisy:guess')}`
  const ids: unknown[] = []
  let unproven = 0
  for (let i = 0; i < 20; i++) {
    const { status, headers } = await post(`${url}/token`, { grant_type: 'x' }, undefined, { authorization })
    ids.push(headers.get('x-request-id'))
    if (status === 401) unproven++
  }
  const answered = () =>
    parseLines(gateway.output).filter(line => line.event === 'request' && ids.includes(line.request_id))
  await eventually(() => answered().length === ids.length)

  const refused = auditLines('client_refused').filter(line => line.client_id === 'noisy')
  const blocked = auditLines('client_blocked')
  // Ten; but workers that wait too long for a busy Redis go by their own shares.
  t.ok(unproven > 0 && unproven < 20, `${unproven} of 20`)
  t.equal(refused.length, unproven)
  t.ok(blocked.length === 1 || blocked.length === 2, `${blocked.length} of two workers`)
  t.match(blocked[0], { client_id: 'noisy', reason: 'bad_secret' })
})

t.test('audit lines follow a user from a wrong password to a code that is used twice', async t => {
  const lines = await told(7, async () => {
    const visit = await enter(url, authorizationQuery({ scope: 'read' }))
    await visit.submit({ username: 'alice', password: 'guessed-password' })
    await visit.submit({ username: 'typed-as-a-name', password: 'guessed-password' })
    await visit.signIn()
    const { headers } = await visit.submit({ decision: 'allow' })
    const code = keep(new URL(headers.get('location') ?? '').searchParams.get('code') ?? '')
    const { body } = await redeem(url, code)
    for (const issued of [body.access_token, body.refresh_token]) keep(issued)
    await redeem(url, code)
  })

  const sub = lines[0]?.sub
  const about = { client_id: 'app', address: '127.0.0.1' }
  t.match(sub, /^[\w-]{43}$/, 'the attempted user has the same subject as in the tokens')
  t.match(lines, [
    { ...about, action: 'sign_in_refused', sub },
    { ...about, action: 'sign_in_refused', sub: undefined },
    { ...about, action: 'signed_in', outcome: 'success', sub },
    { ...about, action: 'consent_given', outcome: 'success', sub, scope: 'read' },
    { ...about, action: 'token_issued', grant_type: 'authorization_code', sub },
    { ...about, action: 'reuse_detected', outcome: 'failure', reason: 'code', sub },
    { ...about, action: 'token_refused', outcome: 'failure', reason: 'invalid_grant' },
  ])
})

t.test('a reused refresh token, a revoked token and a declined consent have audit lines', async t => {
  const lines = await told(9, async () => {
    const first = await redeem(url, await newCode(url, { client_id: 'spa' }), { client_id: 'spa' }, null)
    const refresh = { grant_type: 'refresh_token', client_id: 'spa', refresh_token: String(first.body.refresh_token) }
    await post(`${url}/token`, refresh)
    await post(`${url}/token`, refresh)
    const { body } = await token({ grant_type: 'client_credentials' }, 'app')
    await post(`${url}/revoke`, { token: String(keep(body.access_token)) }, 'app')
    await post(`${url}/revoke`, { token: 'of nobody' }, 'app')
    await (await enter(url, authorizationQuery())).submit({ decision: 'deny' })
  })

  t.match(lines.slice(2), [
    { action: 'token_issued', client_id: 'spa', grant_type: 'authorization_code' },
    { action: 'token_issued', client_id: 'spa', grant_type: 'refresh_token' },
    { action: 'reuse_detected', client_id: 'spa', reason: 'refresh_token' },
    { action: 'token_refused', client_id: 'spa', reason: 'invalid_grant' },
    { action: 'token_issued' },
    { action: 'token_revoked', client_id: 'app', reason: 'access_token', sub: 'app', jti: /./ },
    { action: 'consent_declined', client_id: 'app', reason: 'access_denied' },
  ])
})

t.test('a client over its plan has an audit line for every operation', async t => {
  const lines = await told(3, async () => {
    keep((await token({ grant_type: 'client_credentials' }, 'busy')).body.access_token)
    await token({ grant_type: 'client_credentials' }, 'busy')
    await post(`${url}/revoke`, { token: 'x' }, 'busy')
  })

  const refusal = { level: 'warn', outcome: 'failure', client_id: 'busy', reason: 'rate_limit_exceeded' }
  t.match(byAction(lines), [
    { action: 'revocation_refused', ...refusal, address: '127.0.0.1' },
    { action: 'token_issued' },
    { action: 'token_refused', ...refusal, address: '127.0.0.1' },
  ])
})

t.test('a key rotation has one audit line, although every worker sees it', async t => {
  const store = await openStore({ kind: 'redis', mode: 'single', url: new Secret(redis.url) }, systemClock)
  const request = { algorithms: ['ES256'], isUrgent: true } as const
  const [rotation] = await rotateKeys(store.keys, systemClock.nowMs(), request)
  await store.close()
  const header = btoa(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: 'unknown' })).replaceAll('=', '')
  const haveRead = new Set<unknown>()

  await eventually(async () => {
    // An unknown key makes a worker read the keys.
    await post(`${url}/introspect`, { token: `${header}.e30.${'A'.repeat(86)}` }, 'app')
    const answer = await fetch(`${url}/.well-known/jwks.json`, { headers: { connection: 'close' } })
    if (!(await answer.text()).includes(rotation?.kid ?? '')) return false
    const ofAnswer = (line: LogLine): boolean => line.request_id === answer.headers.get('x-request-id')
    await eventually(() => parseLines(gateway.output).some(ofAnswer))
    haveRead.add(parseLines(gateway.output).find(ofAnswer)?.worker_pid)
    return haveRead.size === 2
  })

  const [first, ...others] = auditLines('key_published')
  t.match(first, { alg: 'ES256', pid: gateway.pid }, 'the first one, by the program that found none')
  t.match(others, [{ kid: rotation?.kid, active_at: new Date(rotation?.activeAtMs ?? 0).toISOString() }])
})

t.test('what happens to the program stands in the log as the catalogue has it', async t => {
  const has = (event: string) => eventually(() => parseLines(gateway.output).some(line => line.event === event))
  await fetch(`${url}/dead`)
  await has('upstream_unreachable')
  await reload(gateway, { product: { title: 'Another' } })
  await reload(gateway, 'issuer: [')
  process.kill(workerPid(gateway), 'SIGKILL')
  await has('worker_died')
  await eventually(() => parseLines(gateway.output).filter(({ event }) => event === 'worker_ready').length === 3)
  await redis.kill()
  await has('store_down')
  const away = await told(2, async () => {
    const refresh_token = `${'A'.repeat(22)}.${'A'.repeat(43)}`
    await token({ grant_type: 'refresh_token', refresh_token }, 'app')
    await post(`${url}/revoke`, { token: refresh_token }, 'app')
  })
  await redis.start()
  await has('store_up')
  gateway.kill('SIGINT')
  await gateway.exited

  const lines = parseLines(gateway.output)
  const seen = new Set(lines.map(({ event }) => event))
  const due = ['request', 'audit', 'ready', 'config_reloaded', 'config_refused', 'store_up', 'draining', 'stopped']
  t.same(
    due.filter(event => !seen.has(event)),
    [],
  )
  t.same(lines.flatMap(faultsOf), [])
  t.match(byAction(away), [
    { action: 'revocation_refused', client_id: 'app', reason: 'temporarily_unavailable' },
    { action: 'token_refused', client_id: 'app', reason: 'temporarily_unavailable' },
  ])
})

t.test('no line has a secret, a token, a code, or an unknown name', async t => {
  const output = gateway.output.join('\n')

  t.ok(secrets.length > 7)
  t.same(
    secrets.filter(secret => output.includes(secret)),
    [],
  )
})
