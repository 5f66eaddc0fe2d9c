import { Command } from 'ioredis'
import t from 'tap'
import { systemClock } from '../../../src/clock.ts'
import { instrumentStore } from '../../../src/stores/instrumented-store.ts'
import { openStore } from '../../../src/stores/open.ts'
import type { Charge } from '../../../src/stores/ports/limiter.ts'
import { StoreUnavailableError } from '../../../src/stores/ports/store-unavailable.ts'
import { mostCertainInAnyWindow } from '../../conformance/oracle.ts'
import { newGrant, newId, redemptionOf } from '../../conformance/records.ts'
import { newCharge } from '../../support/charges.ts'
import { eventually } from '../../support/eventually.ts'
import { placeOfSlot, startCluster } from '../../support/redis-cluster.ts'
import {
  admissionsOf,
  chargeSteadily,
  longestWaitMs,
  openWorker,
  openWorkers,
  type SteadyCharges,
  shareOfStore,
  toRedisUrl,
  undisturbed,
} from './support/workers.ts'

const windowMs = 1000
const cluster = await startCluster(t)
t.beforeEach(() => cluster.healed())

/** The slot of each key with this in braces. */
const slotOf = (tag: string): number => new Command('exists', [`{${tag}}`]).getSlot()

const idIn = (place: number): string => {
  for (;;) {
    const id = newId()
    if (placeOfSlot(slotOf(id)) === place) return id
  }
}

/** A charge whose counter is on the node at this place. */
const chargeIn = (place: number, limit: number): Charge => ({ ...newCharge(limit), key: idIn(place) })

t.test('workers share plans on every node of a Cluster, also after each has lost the script', async t => {
  for (const place of [0, 1, 2]) {
    const verdicts = await undisturbed(async () => {
      const run = chargeSteadily(t, await openWorkers(t, cluster.url, 2), chargeIn(place, 50))
      await eventually(() => run.verdicts.length > 150)
      await cluster.nodes[place]?.client.script('FLUSH')
      await eventually(() => run.verdicts.length > 300)
      return run.stop()
    })

    t.equal(shareOfStore(verdicts), 1)
    t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 50)
    t.ok(admissionsOf(verdicts).length >= 50, `${admissionsOf(verdicts).length} on node ${place}`)
  }
})

t.test('a slot that moves to another node under load keeps its count', async t => {
  const [from, to] = cluster.nodes

  const verdicts = await undisturbed(async () => {
    const charge = chargeIn(0, 50)
    const slot = slotOf(charge.key)
    const run = chargeSteadily(t, [await openWorker(t, cluster.url)], charge)
    await eventually(() => run.verdicts.length > 50)
    await moveSlot(slot, from.client, to.client)
    await eventually(() => run.verdicts.length > 300)
    const verdicts = await run.stop()
    await moveSlot(slot, to.client, from.client)
    return verdicts
  })

  t.equal(shareOfStore(verdicts), 1)
  t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 50)
})

type Client = (typeof cluster.nodes)[0]['client']

const moveSlot = async (slot: number, from: Client, to: Client): Promise<void> => {
  const [fromId, toId] = [await from.cluster('MYID'), await to.cluster('MYID')]
  await to.cluster('SETSLOT', slot, 'IMPORTING', fromId)
  await from.cluster('SETSLOT', slot, 'MIGRATING', toId)
  const { port } = to.options
  for (;;) {
    const keys = (await from.cluster('GETKEYSINSLOT', slot, 100)) as unknown as readonly string[]
    if (keys.length === 0) break
    await from.call('MIGRATE', '127.0.0.1', port ?? 0, '', 0, 1000, 'KEYS', ...keys)
  }
  for (const { client } of cluster.nodes) await client.cluster('SETSLOT', slot, 'NODE', toId)
}

for (const [name, away] of [
  ['killed', { stop: () => cluster.nodes[2].kill(), start: () => cluster.nodes[2].start() }],
  ['silent', { stop: async () => cluster.nodes[2].pause(), start: async () => cluster.nodes[2].resume() }],
] as const) {
  t.test(`while one node is ${name} workers divide its plans, and other nodes continue to count theirs`, async t => {
    const workers = await openWorkers(t, cluster.url, 2)
    const [lost, kept] = [chargeSteadily(t, workers, chargeIn(2, 50)), chargeSteadily(t, workers, chargeIn(0, 50))]
    await eventually(() => [lost, kept].every(run => run.verdicts.length > 100))

    await away.stop()
    t.teardown(away.start)
    await eventually(() => workers.every(({ changes }) => changes.length === 1))
    const awayFrom = kept.verdicts.length
    const awayFromMs = performance.now()
    await eventually(() => performance.now() > awayFromMs + 2500)
    for (const { changes } of workers) t.same(changes, [false], 'reported once, and not revoked meanwhile')
    const [keptAway, lostAway] = [kept.verdicts.slice(awayFrom), lost.verdicts.slice(lost.verdicts.length - 10)]
    const backFromMs = performance.now()
    await away.start()
    await eventually(() => workers.every(({ changes }) => changes.length === 2))
    await eventually(() => lost.verdicts.at(-1)?.verdict.source === 'store')

    t.ok(shareOfStore(keptAway) > 0.9)
    t.equal(shareOfStore(lostAway), 0)
    const [lostVerdicts, keptVerdicts] = await Promise.all([lost.stop(), kept.stop()])
    // A busy machine sometimes pauses for 50 ms, and then a worker adds its share.
    const keptMost = shareOfStore(keptVerdicts) === 1 ? 50 : 100
    t.ok(mostCertainInAnyWindow(admissionsOf(keptVerdicts), windowMs) <= keptMost)
    const admissions = admissionsOf(lostVerdicts)
    t.ok(mostCertainInAnyWindow(admissions, windowMs) <= 100, 'at most one plan more around the outage')
    const shared = admissions.filter(({ sentAtMs }) => sentAtMs > awayFromMs + windowMs && sentAtMs < backFromMs)
    t.ok(mostCertainInAnyWindow(shared, windowMs) <= 50)
    t.ok(shared.length >= 50, 'the shares together are the plan')
    for (const { changes } of workers) t.same(changes, [false, true])
    t.ok(longestWaitMs(lostVerdicts) < 1000, 'one time-out, with slack for a busy machine')
  })
}

t.test('if a Cluster serves only as a whole, workers divide every plan when a node is gone', async t => {
  await demandFullCoverage('yes')
  t.teardown(() => demandFullCoverage('no'))
  const workers = await openWorkers(t, cluster.url, 2)
  const [lost, kept] = [chargeSteadily(t, workers, chargeIn(2, 50)), chargeSteadily(t, workers, chargeIn(0, 50))]
  await eventually(() => [lost, kept].every(run => run.verdicts.length > 100))

  await cluster.nodes[2].kill()
  t.teardown(() => cluster.nodes[2].start())
  await eventually(() => workers.every(({ changes }) => changes.length === 1))
  await eventually(() => isAway(lost) && isAway(kept))
  await cluster.nodes[2].start()
  await eventually(() => workers.every(({ changes }) => changes.at(-1)))
  await eventually(() => [lost, kept].every(run => run.verdicts.at(-1)?.verdict.source === 'store'))

  for (const run of [lost, kept]) {
    const verdicts = await run.stop()
    t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 100, 'at most one plan more around the outage')
    t.ok(longestWaitMs(verdicts) < 1000, 'one time-out, with slack for a busy machine')
  }
})

const demandFullCoverage = async (whether: 'yes' | 'no'): Promise<void> => {
  for (const { client } of cluster.nodes) await client.config('SET', 'cluster-require-full-coverage', whether)
}

/** Whether the shared count gave none of the last 20 verdicts. These are enough to include every worker. */
const isAway = ({ verdicts }: SteadyCharges): boolean => shareOfStore(verdicts.slice(-20)) === 0

t.test('a store on a Cluster that lost a node serves the data of the other nodes and reports a fault', async t => {
  const states: boolean[] = []
  const observer = { answered: () => undefined, state: (isUp: boolean) => void states.push(isUp) }
  const store = instrumentStore(await openStore(toRedisUrl(cluster.url), systemClock), observer)
  t.teardown(() => store.close())
  const grantIn = (place: number) => ({ ...newGrant(Date.now()), grantId: idIn(place) })
  await store.ping()

  await cluster.nodes[2].kill()
  t.teardown(() => cluster.nodes[2].start())
  await eventually(() => states.at(-1) === false)
  const downFrom = states.length
  const startedAtMs = performance.now()
  await t.rejects(store.grants.create(grantIn(2)), StoreUnavailableError)
  await store.grants.create(grantIn(0))
  await store.grants.create(grantIn(1))
  await t.rejects(store.ping(), StoreUnavailableError)

  t.ok(performance.now() - startedAtMs < 3000)
  t.notOk(
    states.slice(downFrom).includes(true),
    'an answer of another node does not count as a sign that the store is up',
  )
  await cluster.nodes[2].start()
  await eventually(() => states.at(-1) === true)
  await store.grants.create(grantIn(2))
})

t.test('a replica that takes over serves its slots without a restart of any worker', async t => {
  const replica = await cluster.addReplica(cluster.nodes[1])
  const workers = await openWorkers(t, cluster.url, 2)
  const store = await openStore(toRedisUrl(cluster.url), systemClock)
  t.teardown(() => store.close())
  const grant = { ...newGrant(Date.now()), grantId: idIn(1) }
  await store.grants.create(grant)
  const run = chargeSteadily(t, workers, chargeIn(1, 50))
  await eventually(() => run.verdicts.length > 100)
  await eventually(async () => (await replica.client.dbsize()) > 0)

  await cluster.nodes[1].kill()
  t.teardown(() => cluster.nodes[1].start())
  await eventually(() => workers.every(({ changes }) => changes.includes(false)))
  await eventually(() => workers.every(({ changes }) => changes.at(-1)), 30_000)
  await eventually(() => run.verdicts.at(-1)?.verdict.source === 'store')

  const verdicts = await run.stop()
  t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 100, 'at most one plan more around the outage')
  t.ok(longestWaitMs(verdicts) < 1000, 'one time-out, with slack for a busy machine')
  await eventually(async () => (await store.grants.redeem(redemptionOf(grant, Date.now()))).kind === 'redeemed')
})
