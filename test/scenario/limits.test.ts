import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { mostCertainInAnyWindow } from '../conformance/oracle.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../support/sidegate.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'

/** The plan, and how long it is held under load, in seconds. */
const planPerSec = 100
const lastsSec = 3

const client = (client_id: string): TestConfig => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['client_credentials'],
})

const startPod = (t: Test, changes: TestConfig): Promise<RunningSidegate> =>
  startSidegate(t, {
    plans: { 'default-plan': { rate: `${planPerSec}/1second` } },
    groupings: [
      { name: 'G', operations: [{ method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' }] },
    ],
    clients: [client('greedy'), client('modest')],
    ...changes,
  })

/** One request as its client saw it. */
interface Seen {
  readonly status: number
  readonly retryAfter: string | null
  readonly error: string | undefined
  readonly sentAtMs: number
  readonly answeredAtMs: number
}

const askOnce = async (url: string, clientId: string): Promise<Seen> => {
  const sentAtMs = performance.now()
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientId}-secret`).toString('base64')}`
  const response = await fetch(`${url}/metadata`, { headers: { authorization } })
  const answeredAtMs = performance.now()
  const { error } = (await response.json()) as { readonly error?: string }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), error, sentAtMs, answeredAtMs }
}

/** Asks so often, evenly, whatever the answers say, each gateway in turn. */
const askSteadily = async (urls: readonly string[], clientId: string, perSec: number): Promise<readonly Seen[]> => {
  const startedAtMs = performance.now()
  const asked: Promise<Seen>[] = []
  for (let nowMs = startedAtMs; nowMs < startedAtMs + lastsSec * 1000; nowMs = performance.now()) {
    const due = ((nowMs - startedAtMs) / 1000) * perSec
    while (asked.length < due) asked.push(askOnce(urls[asked.length % urls.length] ?? '', clientId))
    await sleep(1)
  }
  return Promise.all(asked)
}

interface Run {
  /** From the client at five times its plan. */
  readonly greedy: readonly Seen[]
  /** From the one at half of it. */
  readonly modest: readonly Seen[]
}

/** Decisions that were not the shared count's, over all pods so far. */
const countLocal = async (pods: readonly RunningSidegate[]): Promise<number> => {
  const expositions = await Promise.all(pods.map(({ admin }) => scrape(admin)))
  return expositions.reduce((sum, one) => sum + sumOf(one, 'sidegate_plan_decisions_total', { decision: 'local' }), 0)
}

/**
 * A run that the shared count decided alone. A machine that stands still for longer than a worker waits for the count
 * makes it decide locally, which is right and proves nothing: then it is run again.
 */
const runTogether = async (t: Test, pods: readonly RunningSidegate[], attempts = 8): Promise<Run> => {
  const urls = pods.map(({ url }) => url)
  const localBefore = await countLocal(pods)
  const [greedy, modest] = await Promise.all([
    askSteadily(urls, 'greedy', 5 * planPerSec),
    askSteadily(urls, 'modest', planPerSec / 2),
  ])
  const local = (await countLocal(pods)) - localBefore
  if (local > 0 && attempts > 1) return runTogether(t, pods, attempts - 1)
  t.equal(local, 0, 'the shared count decided everything')
  return { greedy, modest }
}

const holdsThePlan = async (t: Test, pods: readonly RunningSidegate[]): Promise<void> => {
  const { greedy, modest } = await runTogether(t, pods)

  const admitted = greedy.filter(({ status }) => status === 200)
  const refused = greedy.filter(({ status }) => status === 429)
  t.equal(admitted.length + refused.length, greedy.length)
  t.ok(mostCertainInAnyWindow(admitted, 1000) <= planPerSec, 'never more than the plan in any second')
  // A machine that is busy with other tests sends nothing for a part of the time.
  t.ok(admitted.length >= 0.8 * planPerSec * lastsSec, `the plan is given out: ${admitted.length}`)
  t.ok(refused.every(({ retryAfter, error }) => retryAfter === '1' && error === 'rate_limit_exceeded'))
  t.ok(
    modest.every(({ status }) => status === 200),
    'a client within its plan is never refused, whatever another does',
  )
}

t.test('four workers keep a plan together with the embedded store', async t => {
  await holdsThePlan(t, [await startPod(t, { workers: 4 })])
})

t.test('four workers keep a plan together through Redis', async t => {
  const redis = await startRedis(t)

  await holdsThePlan(t, [await startPod(t, { workers: 4, store: redis.url })])
})

t.test('two pods keep a plan together through Redis', async t => {
  const redis = await startRedis(t)
  const pods = await Promise.all([1, 2].map(() => startPod(t, { workers: 2, store: redis.url })))

  await holdsThePlan(t, pods)
})

t.test('a client that waits for Retry-After is admitted', async t => {
  const { url } = await startPod(t, { workers: 2 })
  const answers = await Promise.all(Array.from({ length: 2 * planPerSec }, () => askOnce(url, 'greedy')))
  const refused = answers.find(({ status }) => status === 429)

  await eventually(() => performance.now() >= (refused?.answeredAtMs ?? 0) + Number(refused?.retryAfter) * 1000)

  t.equal((await askOnce(url, 'greedy')).status, 200)
})
