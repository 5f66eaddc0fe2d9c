/** The tokens that `sidegate tokens revoke` ends, in every worker and pod that shares the store. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sidegate } from '../cli/run.ts'
import { type Fields, post, send } from '../oauth/support/post.ts'
import { operations, startOAuth } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { startStrictUpstream } from '../support/recording-upstream.ts'
import { startRedis } from '../support/redis.ts'
import type { RunningSidegate, TestConfig } from '../support/sidegate.ts'
import { newRedemption, refreshOf } from './support/redemption.ts'

/** Gateways that share a store, the first of which is the issuer; each has `/api` before the same upstream. */
const startPods = async (t: Test, count: number, changes: TestConfig): Promise<readonly RunningSidegate[]> => {
  const upstream = await startStrictUpstream(t)
  const issuer = `http://127.0.0.1:${await findFreePort()}`
  const api = { name: 'Api', basePath: '/api', upstream: 'up', operations: [{ method: 'GET', path: '/**' }] }
  const config = {
    issuer,
    groupings: [{ name: 'OAuth', operations }, api],
    upstreams: { up: { targets: [upstream.url] } },
    ...changes,
  }
  return Promise.all(Array.from({ length: count }, () => startOAuth(t, config)))
}

/** The audit lines of a program about revocations by operators. */
const auditOf = ({ output }: RunningSidegate): readonly object[] =>
  output.filter(line => line.includes('"action":"tokens_revoked"')).map(line => JSON.parse(line))

const configOf = ({ dir }: RunningSidegate): string => join(dir, 'sidegate.yaml')

const token = (url: string, fields: Fields, as = 'app') => post(`${url}/token`, fields, as)

const machine = { grant_type: 'client_credentials' }

/** Everywhere, often enough that each worker is asked: a status of `/api` for this access token, each once. */
const statusesOf = async (pods: readonly RunningSidegate[], access_token: unknown): Promise<readonly number[]> => {
  const urls = pods.flatMap(({ url }) => Array.from({ length: 12 }, () => `${url}/api/x`))
  const headers = { authorization: `Bearer ${access_token}` }
  const answers = await Promise.all(urls.map(url => send(url, { method: 'GET', type: undefined, headers })))
  return [...new Set(answers.map(({ status }) => status))]
}

const scenario = async (t: Test, pods: readonly RunningSidegate[]): Promise<void> => {
  const urls = pods.map(({ url }) => url)
  const [first = '', last = ''] = [urls[0], urls.at(-1)]
  const revoke = (...args: readonly string[]) => {
    const [pod] = pods
    return sidegate(['tokens', 'revoke', '--config', pod ? configOf(pod) : '', ...args])
  }
  const isActive = async (text: unknown): Promise<unknown> =>
    (await post(`${last}/introspect`, { token: String(text) }, 'app')).body.active

  await t.test('all that was issued to a client ends in every process, and nothing of another client', async t => {
    const person = (await token(first, await newRedemption(first, 'app'))).body
    const own = (await token(first, machine)).body
    const other = (await token(first, machine, 'server')).body
    const waiting = await newRedemption(first, 'app')
    for (const { access_token } of [person, own, other]) t.same(await statusesOf(pods, access_token), [200])

    const { code, stdout } = await revoke('--client', 'app')

    t.equal(code, 0)
    t.match(stdout, /^revoked: everything issued to app until \S+Z; tokens issued from now on are valid\n$/)
    for (const { access_token } of [person, own]) t.same(await statusesOf(pods, access_token), [401])
    for (const text of [person.access_token, person.refresh_token, own.access_token])
      t.equal(await isActive(text), false)
    t.match(await token(last, refreshOf(person.refresh_token)), { status: 400, body: { error: 'invalid_grant' } })
    t.match(await token(last, waiting), { status: 400, body: { error: 'invalid_grant' } })
    t.same(await statusesOf(pods, other.access_token), [200])
    for (const pod of pods) {
      await eventually(() => auditOf(pod).length > 0)
      t.match(auditOf(pod), [{ event: 'audit', outcome: 'success', client_id: 'app', reason: 'operator' }])
      t.equal(auditOf(pod).length, 1, 'once, whatever the number of workers')
    }
  })

  await t.test('what is issued as soon as the command has ended is good, until its person is named', async t => {
    const person = (await token(first, await newRedemption(first, 'app'))).body
    const own = (await token(first, machine)).body
    t.same(await statusesOf(pods, person.access_token), [200])
    t.equal(await isActive(person.refresh_token), true)
    const { sub } = (await post(`${first}/introspect`, { token: String(person.access_token) }, 'app')).body

    const mistaken = await revoke('--subject', 'alice')
    const { stdout } = await revoke('--username', 'alice', '--client', 'app', '--json')

    t.match(mistaken, { code: 1, stdout: '', stderr: new RegExp(`"alice" is a username, whose subject is ${sub}`) })
    t.match(JSON.parse(stdout), {
      client: 'app',
      subject: sub,
      username: 'alice',
      issuedBefore: /Z$/,
      rememberedUntil: /Z$/,
    })
    t.same(await statusesOf(pods, person.access_token), [401])
    t.equal(await isActive(person.refresh_token), false)
    t.same(await statusesOf(pods, own.access_token), [200])
  })
}

t.test('two workers that share a file', async t => {
  const pods = await startPods(t, 1, { workers: 2 })
  await scenario(t, pods)

  await t.test('invalid arguments are reported and revoke nothing', async t => {
    const config = pods[0] ? configOf(pods[0]) : ''
    const run = (...args: readonly string[]) => sidegate(['tokens', 'revoke', ...args])
    const [nobody, empty, unknown, stranger, broken] = await Promise.all([
      run('--config', config),
      run('--config', config, '--client', ''),
      run('--config', config, '--username', 'alicia'),
      run('--config', config, '--client', 'ap p', '--subject', 'nobody'),
      run('--config', join(config, 'absent'), '--client', 'app'),
    ])

    t.match(nobody, { code: 2, stdout: '', stderr: /name a --client, a --subject or a --username/ })
    t.match(empty, { code: 2, stdout: '', stderr: /--client is 1 to 512 characters/ })
    t.match(unknown, { code: 1, stdout: '', stderr: /login\.users of the configuration has no username "alicia"/ })
    t.match(stranger, { stderr: /no user and no client has the subject "nobody" now/ })
    t.match(stranger, { code: 0, stderr: /neither the configuration nor the store has a client "ap p" now/ })
    t.match(broken, { code: 1, stdout: '' })
  })
})

t.test('two pods that share a Redis, with opaque tokens', async t => {
  const redis = await startRedis(t)
  const pods = await startPods(t, 2, { store: redis.url, workers: 1, tokens: { accessToken: { format: 'opaque' } } })
  await scenario(t, pods)
})
