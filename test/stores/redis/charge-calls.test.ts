import t, { type Test } from 'tap'
import type { Algorithm, Charge, Verdict } from '../../../src/stores/ports/limiter.ts'
import { newId } from '../../conformance/records.ts'
import { chargeBy, newRule } from '../../support/charges.ts'
import { type RunningRedis, startRedis } from '../../support/redis.ts'
import { startLonelyNode } from '../../support/redis-cluster.ts'
import { openWorker } from './support/workers.ts'

const redis = await startRedis(t)

/** Charges of clients with the same plan, which has this many algorithms. Each client has its own counters. */
const clientsOf = (count: number, ...algorithms: readonly Algorithm[]): readonly Charge[] => {
  const { rules } = chargeBy(
    ...algorithms.map(algorithm => newRule(3, { algorithm, counter: algorithm, windowMs: 60_000, burst: 3 })),
  )
  return Array.from({ length: count }, () => ({ key: newId(), rules, whenStoreFails: 'local' }))
}

/**
 * The verdicts of a new worker for the charges of one turn. Another worker tries again if the first one decided locally
 * because the machine paused.
 */
const inOneTurn = async (
  t: Test,
  url: string,
  newCharges: () => readonly Charge[],
  tries = 5,
): Promise<readonly Verdict[]> => {
  const { limiter } = await openWorker(t, url)
  const verdicts = await Promise.all(newCharges().map(charge => limiter.charge(charge)))
  const isTelling = tries === 1 || verdicts.every(({ source }) => source === 'store')
  return isTelling ? verdicts : inOneTurn(t, url, newCharges, tries - 1)
}

const scriptCalls = async ({ client }: RunningRedis): Promise<number> => {
  const stats = await client.info('commandstats')
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

t.test('charges of many clients that come in one turn are one call', async t => {
  const { limiter } = await openWorker(t, redis.url)
  const clients = clientsOf(50, 'strict')
  const before = await scriptCalls(redis)

  await Promise.all(clients.map(client => limiter.charge(client)))

  t.equal((await scriptCalls(redis)) - before, 1)
})

t.test('charges of one client that come in one turn are one call, also the first', async t => {
  const { limiter } = await openWorker(t, redis.url)
  const [client] = clientsOf(1, 'strict')
  if (!client) throw new Error('there is one')
  const before = await scriptCalls(redis)

  await Promise.all(Array.from({ length: 20 }, () => limiter.charge(client)))

  t.equal((await scriptCalls(redis)) - before, 1)
})

t.test('each client of a call is decided by itself, under every rule', async t => {
  const repeated = (): readonly Charge[] =>
    clientsOf(3, 'strict', 'smooth', 'calendar').flatMap((client, place) => Array<Charge>(2 * place + 1).fill(client))

  const verdicts = await inOneTurn(t, redis.url, repeated)

  t.same(
    verdicts.map(({ allowed }) => allowed),
    [true, ...[true, true, true], ...[true, true, true, false, false]],
  )
  t.same(
    verdicts.map(({ rules }) => rules.map(({ remaining }) => remaining)),
    [2, ...[2, 1, 0], ...[2, 1, 0, 0, 0]].map(left => [left, left, left]),
  )
})

t.test('a server of several slots behind one address gets one call for each client', async t => {
  const node = await startLonelyNode(t)

  const verdicts = await inOneTurn(t, node.url, () => clientsOf(20, 'strict', 'smooth'))

  t.match(verdicts, Array(20).fill({ allowed: true, source: 'store' }))
})
