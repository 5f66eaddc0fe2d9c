import { setTimeout as sleep } from 'node:timers/promises'
import { mostCertainInAnyWindow } from '../../conformance/oracle.ts'
import { startSidegate } from '../../support/sidegate.ts'
import { type Seen, secretOf, startSteadyLoad } from '../../support/steady-load.ts'
import { type Decisions, followDecisions } from './decisions.ts'
import { type Form, planName, type Staged, type Teardown } from './form.ts'

/** The outage as the clients saw it. Durations are in milliseconds. */
export interface Measurement {
  readonly awayMs: number
  readonly p50BeforeMs: number
  readonly p99BeforeMs: number
  /** Over the first second of the outage, or all of it if that is shorter. */
  readonly p99FirstMs: number
  /** Over all of the outage. */
  readonly p99AwayMs: number
  readonly longestMs: number
  /** From the instant when Redis took writes again to the last decision that was not the shared count's. */
  readonly backAfterMs: number
  /** The most of one client that certainly got in within one second: around the outage, too. */
  readonly most: number
  /** Answers with another status than 200 and 429, and requests without one. */
  readonly failed: number
}

/** Of each client. */
export const ratePerSec = 100

/** Of all three together. */
const offeredPerSec = 450

const warmUpMs = 1000
const beforeMs = 2000

/** When no worker has decided by itself for so long, the shared count is back, in milliseconds. */
const calmMs = 1500

/** Takes Redis away from a gateway of two workers under a steady load, and gives it back. */
export const measureOutage = async (form: Form, interruption: AbortSignal): Promise<Measurement> => {
  await using stack = new AsyncDisposableStack()
  const t: Teardown = { teardown: handler => stack.defer(async () => void (await handler())) }
  const staged = await form.start(t)
  const gateway = await startGateway(t, staged)
  const load = startSteadyLoad(`${gateway.url}/metadata`, staged.clientIds, offeredPerSec)
  t.teardown(load.stop)
  const decisions = followDecisions(gateway.admin)
  t.teardown(decisions.stop)
  const wait = (ms: number) => sleep(ms, undefined, { signal: interruption })

  await wait(warmUpMs)
  const loadedAtMs = performance.now()
  await wait(beforeMs)
  const awayAtMs = performance.now()
  await staged.goAway()
  await staged.comeBack()
  const backAtMs = performance.now()
  while (!isCalm(decisions, backAtMs)) await wait(50)
  await load.stop()

  return judge(load.seen, { loadedAtMs, awayAtMs, backAtMs, sharedAtMs: decisions.lastLocalAtMs() ?? backAtMs })
}

const isCalm = (decisions: Decisions, backAtMs: number): boolean =>
  performance.now() > Math.max(backAtMs, decisions.lastLocalAtMs() ?? 0) + calmMs

const startGateway = (t: Teardown, { store, clientIds }: Staged) =>
  startSidegate(t, {
    workers: 2,
    store,
    plans: { [planName]: { rate: `${ratePerSec}/1second` } },
    groupings: [
      { name: 'G', operations: [{ method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' }] },
    ],
    clients: clientIds.map(client_id => ({
      client_id,
      client_secret: secretOf(client_id),
      grant_types: ['client_credentials'],
    })),
  })

/** The instants of a run, in milliseconds of one clock. */
interface Instants {
  readonly loadedAtMs: number
  readonly awayAtMs: number
  readonly backAtMs: number
  /** Of the last decision that was not the shared count's. */
  readonly sharedAtMs: number
}

export const judge = (seen: readonly Seen[], { loadedAtMs, awayAtMs, backAtMs, sharedAtMs }: Instants): Measurement => {
  const waitsBetween = (fromMs: number, toMs: number): readonly number[] =>
    seen
      .filter(({ sentAtMs, answeredAtMs }) => answeredAtMs > fromMs && sentAtMs < toMs)
      .map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs)
      .toSorted((a, b) => a - b)
  const before = waitsBetween(loadedAtMs, awayAtMs)
  const away = waitsBetween(awayAtMs, backAtMs)
  return {
    awayMs: backAtMs - awayAtMs,
    p50BeforeMs: percentile(before, 0.5),
    p99BeforeMs: percentile(before, 0.99),
    p99FirstMs: percentile(waitsBetween(awayAtMs, Math.min(backAtMs, awayAtMs + 1000)), 0.99),
    p99AwayMs: percentile(away, 0.99),
    longestMs: away.at(-1) ?? Number.NaN,
    backAfterMs: Math.max(0, sharedAtMs - backAtMs),
    most: mostOfOneClient(seen),
    failed: seen.filter(({ status }) => status !== 200 && status !== 429).length,
  }
}

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN

const mostOfOneClient = (seen: readonly Seen[]): number => {
  const byClient = Map.groupBy(
    seen.filter(({ status }) => status === 200),
    ({ clientId }) => clientId,
  )
  return Math.max(0, ...[...byClient.values()].map(admissions => mostCertainInAnyWindow(admissions, 1000)))
}
