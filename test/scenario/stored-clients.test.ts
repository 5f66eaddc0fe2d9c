/** Clients that are made, disabled and changed in the store while every worker and pod that shares it serves on. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock.ts'
import { hashGeneratedSecret } from '../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../src/secret.ts'
import { openStore, parseStoreUrl } from '../../src/stores/open.ts'
import { sidegate } from '../cli/run.ts'
import { basic } from '../oauth/support/authorization-server.ts'
import { type Fields, type Posted, post, send } from '../oauth/support/post.ts'
import { callback, operations, startOAuth, users } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { startStrictUpstream } from '../support/recording-upstream.ts'
import { startRedis } from '../support/redis.ts'
import type { RunningSidegate, TestConfig } from '../support/sidegate.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'
import { newRedemption, refreshOf } from './support/redemption.ts'

const plans = { 'default-plan': { rate: '100000/1second' }, gold: { rate: '100000/1second' } }

/** Gateways that share a store, the first of which is the issuer; each has `/api` before the same upstream. */
const startPods = async (t: Test, count: number, changes: TestConfig): Promise<readonly RunningSidegate[]> => {
  const upstream = await startStrictUpstream(t)
  const issuer = `http://127.0.0.1:${await findFreePort()}`
  const api = { name: 'Api', basePath: '/api', upstream: 'up', operations: [{ method: 'GET', path: '/**' }] }
  const filed = { client_secret: 'filed-secret', grant_types: ['client_credentials'], plan: 'default-plan' }
  const config = {
    issuer,
    plans,
    groupings: [{ name: 'OAuth', operations }, api],
    upstreams: { up: { targets: [upstream.url] } },
    clients: [
      { client_id: 'filed', ...filed },
      { client_id: 'server', ...filed, client_secret: 'server-secret', introspects: 'all' },
    ],
    // The test polls until a client is served, and each failed attempt counts.
    login: { failures: '1000000/1second', users: await users() },
    ...changes,
  }
  return Promise.all(Array.from({ length: count }, () => startOAuth(t, config)))
}

const configOf = ({ dir }: RunningSidegate): string => join(dir, 'sidegate.yaml')

/** Often enough that each worker is asked. */
const asksPerPod = 8

const answerOf = ({ status, body }: Posted): unknown => (status === 401 ? (body.error ?? 401) : status)

/** Each answer that is given anywhere, once. */
const everywhere = async (pods: readonly RunningSidegate[], ask: (url: string) => Promise<Posted>) => {
  const urls = pods.flatMap(({ url }) => Array.from({ length: asksPerPod }, () => url))
  return [...new Set((await Promise.all(urls.map(ask))).map(answerOf))]
}

/** Waits until every process gives this answer. */
const settled = (pods: readonly RunningSidegate[], expected: unknown, ask: (url: string) => Promise<Posted>) =>
  eventually(async () => {
    const [first] = pods
    if (!first || answerOf(await ask(first.url)) !== expected) return false
    const answers = await everywhere(pods, ask)
    return answers.length === 1 && answers[0] === expected
  })

const machine: Fields = { grant_type: 'client_credentials' }

const token =
  (client_id: string, secret: string, fields = machine) =>
  (url: string): Promise<Posted> =>
    post(`${url}/token`, fields, undefined, { authorization: basic(client_id, secret) })

const api =
  (access_token: unknown) =>
  (url: string): Promise<Posted> =>
    send(`${url}/api/x`, { method: 'GET', type: undefined, headers: { authorization: `Bearer ${access_token}` } })

const hasLogged = ({ output }: RunningSidegate, ...texts: readonly string[]): boolean =>
  output.some(line => texts.every(text => line.includes(text)))

t.test('two workers that share a file', async t => {
  const pods = await startPods(t, 1, { workers: 2 })
  const [pod] = pods
  if (!pod) return
  const { url } = pod
  const run = (command: string, ...args: readonly string[]) =>
    sidegate(['client', command, ...args, '--config', configOf(pod)])
  const isActive = async (text: unknown) =>
    (await post(`${url}/introspect`, { token: String(text) }, 'server')).body.active
  const secretIn = (stdout: string): string => /^client_secret: (\S+)/.exec(stdout)?.[1] ?? ''
  let secret = ''

  await t.test('a new client is served by each without a restart, and of two at once one is made', async t => {
    const grants = ['client_credentials', 'authorization_code', 'refresh_token'].flatMap(grant => ['--grant', grant])
    const options = ['--redirect-uri', callback, '--scope', 'books', '--plan', 'gold', '--save']
    const outcomes = await Promise.all([1, 2].map(() => run('new', '--id', 'shop', ...grants, ...options)))

    t.same(outcomes.map(({ code }) => code).toSorted(), [0, 1])
    t.match(outcomes.find(({ code }) => code === 1)?.stderr, /the store has a client "shop" already/)
    secret = secretIn(outcomes.find(({ code }) => code === 0)?.stdout ?? '')
    await settled(pods, 200, token('shop', secret))
    const { body } = await send(`${url}/.well-known/oauth-authorization-server`, { method: 'GET', type: undefined })
    t.same(body.scopes_supported, ['books'])
    await eventually(() => hasLogged(pod, '"client_created"', '"shop"'))
  })

  await t.test('a disabled client gets nothing anywhere, until it is enabled again', async t => {
    const redeem = async (fields: Fields) => (await token('shop', secret, fields)(url)).body
    const person = await redeem(await newRedemption(url, 'shop'))
    const waiting = await newRedemption(url, 'shop')
    await settled(pods, 200, api(person.access_token))

    t.match(await run('disable', 'shop'), { code: 0, stdout: 'shop is disabled\n' })
    await settled(pods, 401, api(person.access_token))
    await settled(pods, 'invalid_client', token('shop', secret))

    t.same(await everywhere(pods, token('shop', secret, refreshOf(person.refresh_token))), ['invalid_client'])
    t.same(await everywhere(pods, token('shop', secret, waiting)), ['invalid_client'])
    t.equal(await isActive(person.access_token), false)
    await eventually(() => hasLogged(pod, '"error_code":"disabled"'))

    t.match(await run('enable', 'shop'), { code: 0, stdout: 'shop is enabled\n' })
    await settled(pods, 200, api(person.access_token))
    await settled(pods, 200, token('shop', secret))
    t.match(await redeem(refreshOf(person.refresh_token)), { access_token: String })
    t.equal(await isActive(person.access_token), true)
  })

  await t.test('a client of the file is disabled by the store', async t => {
    const { access_token } = (await token('filed', 'filed-secret')(url)).body

    t.match(await run('disable', 'filed'), { code: 0 })
    await settled(pods, 'invalid_client', token('filed', 'filed-secret'))
    await settled(pods, 401, api(access_token))

    t.match(await run('enable', 'filed'), { code: 0 })
    await settled(pods, 200, api(access_token))
  })

  await t.test('old and new secret are good while the old one is kept, then the new one alone', async t => {
    const next = secretIn((await run('rotate-secret', 'shop')).stdout)
    await settled(pods, 200, token('shop', next))
    t.same(await everywhere(pods, token('shop', secret)), [200])

    const last = secretIn((await run('rotate-secret', 'shop', '--keep', '0s')).stdout)
    await settled(pods, 200, token('shop', last))
    for (const old of [secret, next]) t.same(await everywhere(pods, token('shop', old)), ['invalid_client'])
    secret = last
  })

  await t.test('a client whose plan a reload takes away is not served, and said to be invalid', async () => {
    const written = readFileSync(configOf(pod), 'utf8')

    writeFileSync(configOf(pod), written.replaceAll('gold', 'golden'))
    await settled(pods, 'invalid_client', token('shop', secret))
    await eventually(() => hasLogged(pod, '"client_invalid"', '"shop"', 'plan: no such plan'))
    await eventually(async () => sumOf(await scrape(pod.admin), 'sidegate_stored_clients', { state: 'invalid' }) > 0)

    writeFileSync(configOf(pod), written)
    await settled(pods, 200, token('shop', secret))
    await eventually(async () => sumOf(await scrape(pod.admin), 'sidegate_stored_clients', { state: 'invalid' }) === 0)
  })

  await t.test('a client that is deleted is gone, with what was issued to it', async t => {
    const { access_token } = (await token('shop', secret)(url)).body

    t.match(await run('delete', 'shop'), { code: 0 })

    await settled(pods, 'invalid_client', token('shop', secret))
    await settled(pods, 401, api(access_token))
    await eventually(() => hasLogged(pod, '"client_deleted"', '"shop"'))
  })
})

t.test('two pods that share a Redis', async t => {
  const redis = await startRedis(t)
  const pods = await startPods(t, 2, { store: redis.url, workers: 1 })
  const [first] = pods
  if (!first) return
  const url = parseStoreUrl(redis.url)
  if ('problem' in url) throw new Error(url.problem)
  const store = await openStore(url, systemClock)
  t.teardown(() => store.close())
  const client = (changes: object) => JSON.stringify({ client_id: 'shop', plan: 'gold', ...changes })
  const client_secret_hash = hashGeneratedSecret(new Secret('shop-secret'))
  const members = client({ client_secret_hash, grant_types: ['client_credentials'] })
  const put = async (disabled: boolean) =>
    store.clients.put('shop', { members, disabled }, (await store.clients.find('shop'))?.version)

  await t.test('what is changed there is known in both', async t => {
    await put(false)
    await settled(pods, 200, token('shop', 'shop-secret'))
    const { access_token } = (await token('shop', 'shop-secret')(first.url)).body
    await settled(pods, 200, api(access_token))

    await put(true)
    await settled(pods, 401, api(access_token))
    await settled(pods, 'invalid_client', token('shop', 'shop-secret'))

    await put(false)
    await settled(pods, 200, api(access_token))

    await t.test('and what is known stays good while Redis is away', async t => {
      await store.clients.put('filed', { disabled: true }, undefined)
      await settled(pods, 'invalid_client', token('filed', 'filed-secret'))
      await redis.kill()
      await eventually(() => pods.every(pod => hasLogged(pod, '"store_down"', '"part":"store"')))

      t.same(await everywhere(pods, api(access_token)), [200])
    })

    await t.test(
      'a disabled client stays disabled after Redis has lost its data, until the operator ends that',
      async t => {
        await redis.start()
        await eventually(() => store.clients.put('new', { disabled: true }, undefined))
        await eventually(() =>
          pods.every(pod => hasLogged(pod, '"store_clients_missing"', '"lost":2,"kept_disabled":1')),
        )
        await settled(pods, 401, api(access_token))
        await settled(pods, 'invalid_client', token('filed', 'filed-secret'))

        t.match(await sidegate(['client', 'enable', 'filed', '--config', configOf(first)]), { code: 0 })
        await settled(pods, 200, token('filed', 'filed-secret'))
      },
    )
  })
})
