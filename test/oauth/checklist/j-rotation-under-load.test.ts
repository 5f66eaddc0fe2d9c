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

/** The usual work of clients, each request on a new connection: get a token, use it, have it introspected. */
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
  const { body, status, text } = await send(`${url}/.well-known/jwks.json`, { method: 'GET' })
  if (status !== 200) throw new Error(text)
  return (body.keys as readonly { readonly kid: string }[]).map(({ kid }) => kid)
}

/** Sends requests without a pause while the gateway rotates, and after it. */
const rotateUnderLoad = async (t: Test, kind: string, store: TestConfig): Promise<void> => {
  const { url, dir } = await start(t, store)
  const statuses = new Set<number | string>()
  const tokens = new Map<string, string>()
  let isOver = false
  const note = (answers: readonly Posted[]) => {
    for (const answer of answers) statuses.add(isGood(answer) ? 'good' : answer.status)
  }
  const keepUsing = async (): Promise<void> => {
    while (!isOver) {
      const { token, answers } = await useOnce(url)
      note(answers)
      tokens.set(kidOf(token), token)
      await sleep(50)
    }
  }
  const load = Promise.all([keepUsing(), keepUsing()])
  await eventually(() => tokens.size === 1)
  const [old = ''] = tokens.keys()

  const rotated = await sidegate(['keys', 'rotate', '--config', join(dir, 'sidegate.yaml'), '--now'])
  const next = /^ES256: (\S+) is new/.exec(rotated.stdout)?.[1] ?? ''
  await eventually(async () => (await publishedKids(url)).includes(next), 20_000)
  await eventually(() => tokens.has(next), 30_000)
  const after = await Promise.all(Array.from({ length: 20 }, () => useOnce(url)))
  for (const { answers } of after) note(answers)
  const ofOldKey = tokens.get(old) ?? ''
  for (let n = 0; n < 12; n++) note(await show(url, ofOldKey))
  isOver = true
  await load

  t.same([...statuses], ['good'], `${kind}: every request, with tokens of both keys`)
  t.same([...new Set(after.map(({ token }) => kidOf(token)))], [next], `${kind}: every worker signs with the new one`)
  t.same((await publishedKids(url)).toSorted(), [old, next].sort(), `${kind}: both keys are published`)
}

t.test(
  'no request fails while four workers change to a new key (OpenID Connect Core section 10.1.1; checklist 96)',
  async t => {
    const redis = await startRedis(t)

    // Both run at once: most of the time is the wait for the fifteen seconds in which every worker reads the new key.
    await Promise.all([rotateUnderLoad(t, 'sqlite', {}), rotateUnderLoad(t, 'redis', { store: redis.url })])
  },
)
