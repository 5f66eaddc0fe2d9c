import t, { type Test } from 'tap'
import { logEntries } from '../cluster/support/gateway.ts'
import { mostCertainInAnyWindow, mostCertainInCalendarWindow } from '../conformance/oracle.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../support/sidegate.ts'
import { type Seen, type SteadyLoad, secretOf, startSteadyLoad } from '../support/steady-load.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'

const windowMs = 1000
const ratePerSec = 20
const bucket = 5
/** All that the client with a quota may have in an hour. */
const quota = 30

const algorithms = ['strict', 'smooth', 'calendar'] as const
const modes = ['local', 'open', 'closed'] as const
type Mode = (typeof modes)[number]

/** The most that each algorithm lets in, in any second. */
const mostInWindow = { strict: ratePerSec, smooth: ratePerSec + bucket - 1, calendar: 2 * ratePerSec } as const

const planOf = (algorithm: (typeof algorithms)[number], whenStoreFails: Mode): TestConfig => ({
  rate: `${ratePerSec}/1second`,
  algorithm,
  whenStoreFails,
  ...(algorithm === 'smooth' && { burst: bucket }),
})

/** Each has a client of its name. */
const plans: Readonly<Record<string, TestConfig>> = {
  ...Object.fromEntries(
    algorithms.flatMap(algorithm => modes.map(mode => [`${algorithm}-${mode}`, planOf(algorithm, mode)])),
  ),
  triple: { rate: '500/1minute', quota: `${quota}/1hour`, burst: `${ratePerSec}/1second` },
}
const clientIds = Object.keys(plans)

const startGateway = (t: Test, store: string): Promise<RunningSidegate> =>
  startSidegate(t, {
    workers: 2,
    store,
    plans,
    groupings: [
      { name: 'G', operations: [{ method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' }] },
    ],
    clients: clientIds.map(client_id => ({
      client_id,
      client_secret: secretOf(client_id),
      grant_types: ['client_credentials'],
      plan: client_id,
    })),
  })

const whenAnswered = (load: SteadyLoad, more: number): Promise<void> => {
  const enough = load.seen.length + more
  return eventually(() => load.seen.length >= enough)
}

t.test('Redis goes away under load, and comes back', async t => {
  const redis = await startRedis(t)
  const gateway = await startGateway(t, redis.url)
  const planLimits = async (): Promise<string | undefined> =>
    /^plan limits: (.*)$/m.exec(await (await fetch(`${gateway.admin}/readyz?verbose`)).text())?.[1]
  const countDowns = () => logEntries(gateway, 'store_down').filter(({ part }) => part === 'limiter').length
  const load = startSteadyLoad(`${gateway.url}/metadata`, clientIds, 50 * clientIds.length)
  t.teardown(() => load.stop())
  await whenAnswered(load, 300)
  await eventually(async () => (await planLimits()) === 'ok')
  const downsBefore = countDowns()

  await redis.kill()
  // Until then clients that were over their plan before are still refused.
  const awayFromMs = performance.now() + windowMs
  await eventually(() => performance.now() > awayFromMs)
  await whenAnswered(load, 1000)
  const away = await planLimits()
  const downs = countDowns() - downsBefore
  const awayUntilMs = performance.now()
  await redis.start()
  await eventually(async () => (await planLimits()) === 'ok')
  await whenAnswered(load, 500)
  await load.stop()

  const sentAway = load.seen.filter(({ sentAtMs }) => sentAtMs > awayFromMs && sentAtMs < awayUntilMs)
  const of = (clientId: string): readonly Seen[] => sentAway.filter(seen => seen.clientId === clientId)
  const admitted = (clientId: string): readonly Seen[] => of(clientId).filter(({ status }) => status === 200)

  t.test('every request is answered, and with nothing else than ever', async t => {
    t.same([...new Set(load.seen.map(({ status }) => status))].toSorted(), [200, 429, 503])
  })

  for (const algorithm of algorithms) {
    t.test(`${algorithm} and local: the shares of two workers add up to at most the plan`, async t => {
      const admissions = admitted(`${algorithm}-local`)

      t.ok(mostCertainInAnyWindow(admissions, windowMs) <= mostInWindow[algorithm])
      t.ok(admissions.length >= 0.8 * ratePerSec, `${admissions.length} were let in`)
      t.ok(of(`${algorithm}-local`).some(({ status }) => status === 429))
    })

    t.test(`${algorithm} and open: every request is admitted`, async t => {
      t.ok(of(`${algorithm}-open`).length > ratePerSec)
      t.ok(of(`${algorithm}-open`).every(({ status }) => status === 200))
    })

    t.test(`${algorithm} and closed: no request is admitted, and each refusal has a Retry-After`, async t => {
      t.ok(of(`${algorithm}-closed`).length > ratePerSec)
      t.ok(of(`${algorithm}-closed`).every(({ status, retryAfter }) => status === 503 && retryAfter === '1'))
    })
  }

  t.test('calendar and local: at most the plan between two turns of the second', async t => {
    const { timeOrigin } = performance
    const admissions = admitted('calendar-local').map(({ sentAtMs, answeredAtMs }) => ({
      sentAtMs: timeOrigin + sentAtMs,
      answeredAtMs: timeOrigin + answeredAtMs,
    }))

    t.ok(mostCertainInCalendarWindow(admissions, windowMs) <= ratePerSec)
  })

  t.test('rate, quota and burst limit are shared out together', async t => {
    const refused = of('triple').filter(({ status }) => status === 429)

    t.ok(admitted('triple').length <= quota)
    t.ok(mostCertainInAnyWindow(admitted('triple'), windowMs) <= ratePerSec)
    t.ok(
      refused.some(({ retryAfter }) => Number(retryAfter) > 1),
      'the quota refuses too',
    )
  })

  t.test('around the outage a plan lets in one window more at most', async t => {
    const admissions = load.seen.filter(({ clientId, status }) => clientId === 'strict-local' && status === 200)

    t.ok(mostCertainInAnyWindow(admissions, windowMs) <= 2 * ratePerSec)
  })

  t.test(
    'the outage is visible once in the log in each direction, on /readyz?verbose, and in the metric of every plan',
    async t => {
      t.match(away, /^local \(.+\)$/)
      t.equal(downs, 1)
      await eventually(() => logEntries(gateway, 'store_up').some(({ part }) => part === 'limiter'))
      const exposition = await scrape(gateway.admin)
      for (const algorithm of algorithms)
        for (const mode of modes) {
          const labels = { plan: `${algorithm}-${mode}`, decision: mode }
          t.ok(sumOf(exposition, 'sidegate_plan_decisions_total', labels) > ratePerSec, `${algorithm}-${mode}`)
        }
    },
  )
})
