import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { sidegate } from '../../cli/run.ts'
import { eventually } from '../../support/eventually.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { startRedis } from '../../support/redis.ts'
import type { RunningSidegate, TestConfig } from '../../support/sidegate.ts'
import { type Posted, post, send } from '../support/post.ts'
import { operations, startOAuth } from '../support/running.ts'

/** Four workers with the OAuth operations and one forwarded operation. */
const start = async (t: Test, store: TestConfig): Promise<RunningSidegate> => {
  const upstream = await startStrictUpstream(t)
  return startOAuth(t, {
    workers: 4,
    groupings: [
      { name: 'OAuth', version: '1.0.0', operations },
      { name: 'Items', version: '1.0.0', upstream: 'items', operations: [{ method: 'GET', path: '/items' }] },
    ],
    upstreams: { items: { targets: [upstream.url] } },
    ...store,
  })
}

const kidOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid

/** What clients do all day, each request on a connection of its own: get a token, show it, have it introspected. */
const useOnce = async (url: string) => {
  const issued = await post(`${url}/token`, { grant_type: 'client_credentials' }, 'app')
  const token = String(issued.body.access_token)
  return { token, answers: [issued, ...(await show(url, token))] }
}

const show = (url: string, token: string): Promise<readonly Posted[]> =>
  Promise.all([
    send(`${url}/items`, { method: 'GET', headers: { authorization: `Bearer ${token}` } }),
    post(`${url}/introspect`, { token }, 'server'),
  ])

const isGood = ({ status, text }: Posted): boolean => status === 200 && text !== '{"active":false}'

const publishedKids = async (url: string): Promise<readonly unknown[]> => {
  const { body } = await send(`${url}/.well-known/jwks.json`, { method: 'GET' })
  return (body.keys as readonly { readonly kid: string }[]).map(({ kid }) => kid)
}

const stores: Readonly<Record<string, (t: Test) => Promise<TestConfig>>> = {
  sqlite: async () => ({}),
  redis: async t => ({ store: (await startRedis(t)).url }),
}

// Both at once: most of it is waiting for the fifteen seconds in which every worker learns of the new key.
t.jobs = Object.keys(stores).length
for (const [kind, openStore] of Object.entries(stores)) {
  t.test(`line 96: no request fails while four workers go over to a new key (${kind})`, { buffered: true }, async t => {
    const { url, dir } = await start(t, await openStore(t))
    const bad: Posted[] = []
    const tokens = new Map<string, string>()
    let isOver = false
    const keepUsing = async (): Promise<void> => {
      while (!isOver) {
        const { token, answers } = await useOnce(url)
        bad.push(...answers.filter(answer => !isGood(answer)))
        tokens.set(kidOf(token), token)
        await sleep(50)
      }
    }
    const load = Promise.all([keepUsing(), keepUsing()])
    await eventually(() => tokens.size === 1)
    const [old = ''] = tokens.keys()

    const rotated = await sidegate(['keys', 'rotate', '--config', join(dir, 'sidegate.yaml'), '--now'])
    t.match(rotated, { code: 0, stdout: /^ES256: \S+ is new/ })
    const next = /^ES256: (\S+)/.exec(rotated.stdout)?.[1] ?? ''
    await eventually(async () => (await publishedKids(url)).includes(next), 15_000)
    await eventually(() => tokens.has(next), 30_000)
    const after = await Promise.all(Array.from({ length: 20 }, () => useOnce(url)))
    isOver = true
    await load

    t.same(bad, [])
    t.ok(after.every(({ answers }) => answers.every(isGood)))
    t.same([...new Set(after.map(({ token }) => kidOf(token)))], [next], 'every worker signs with it')
    const shown = await Promise.all(Array.from({ length: 12 }, () => show(url, tokens.get(old) ?? '')))
    t.ok(shown.flat().every(isGood), 'what the old key signed is good for every worker')
    t.same((await publishedKids(url)).toSorted(), [old, next].sort())
  })
}
