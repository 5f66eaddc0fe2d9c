import t from 'tap'
import { systemClock } from '../../../src/clock.ts'
import { openStore } from '../../../src/stores/open.ts'
import { mostCertainInAnyWindow } from '../../conformance/oracle.ts'
import { newGrant, redemptionOf } from '../../conformance/records.ts'
import { newCharge } from '../../support/charges.ts'
import { eventually } from '../../support/eventually.ts'
import { type RunningRedis, startRedis, startSentinel } from '../../support/redis.ts'
import { admissionsOf, chargeSteadily, longestWaitMs, openWorker, openWorkers, toRedisUrl } from './support/workers.ts'

const windowMs = 1000

const replication = ['--repl-diskless-sync-delay', '0']
const primary = await startRedis(t, replication)
const replica = await startRedis(t, [...replication, '--replicaof', '127.0.0.1', String(primary.port)])
const password = 'guides only & not others'
const guarded = {
  lines: [`requirepass "${password}"`, `sentinel sentinel-pass "${password}"`],
  quorum: 2,
  client: { password },
}
const sentinels = await Promise.all([0, 1, 2].map(() => startSentinel(t, primary.port, guarded)))
const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join()
const url = `redis+sentinel://${hosts}/fleet?sentinel_password=${encodeURIComponent(password)}`

/** Resolves when every Sentinel knows the others and a replica that may take over. */
const knowEachOther = async (): Promise<void> => {
  const ask = async ({ client }: RunningRedis): Promise<boolean> => {
    const others = (await client.call('SENTINEL', 'SENTINELS', 'fleet')) as unknown[]
    const replicas = String(await client.call('SENTINEL', 'REPLICAS', 'fleet'))
    return others.length === 2 && replicas.includes('flags,slave,')
  }
  const follows = async ({ client }: RunningRedis): Promise<boolean> =>
    (await client.info('replication')).includes('master_link_status:up')
  await eventually(async () => (await Promise.all(sentinels.map(ask))).every(Boolean), 30_000)
  await eventually(async () => (await follows(primary)) || (await follows(replica)), 30_000)
}

t.test('Sentinels that require a password answer no question without it', async t => {
  const { changes } = await openWorker(t, url.split('?')[0] ?? '')

  t.same(changes, [false])
})

for (const [name, failOver] of [
  ['gives way', async () => void (await sentinels[0]?.client.call('SENTINEL', 'FAILOVER', 'fleet'))],
  ['dies', async (port: number) => serverAt(port).kill()],
] as const) {
  t.test(`when the primary ${name} under load charges are answered, and its successor continues the count`, async t => {
    await knowEachOther()
    const workers = await openWorkers(t, url, 2)
    const store = await openStore(toRedisUrl(url), systemClock)
    t.teardown(() => store.close())
    const grant = newGrant(Date.now())
    await store.grants.create(grant)
    const before = await primaryPort()
    const run = chargeSteadily(t, workers, newCharge(50))
    await eventually(() => run.verdicts.length > 100)
    await eventually(async () => (await serverAt(replicaPort(before)).client.exists(grantKey(grant))) === 1)

    await failOver(before)
    await eventually(async () => (await primaryPort()) !== before, 30_000)
    await eventually(() => workers.every(({ changes }) => changes.at(-1)), 30_000)
    await eventually(() => run.verdicts.at(-1)?.verdict.source === 'store', 30_000)
    await eventually(async () => (await store.grants.redeem(redemptionOf(grant, Date.now()))).kind === 'redeemed')

    const verdicts = await run.stop()
    t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 100, 'at most one plan more around the failover')
    t.ok(longestWaitMs(verdicts) < 1000, 'one time-out, with slack for a busy machine')
    for (const { changes } of workers) t.same([changes[0], changes.at(-1)], [false, true])
  })
}

const grantKey = ({ grantId }: { readonly grantId: string }): string => `sidegate:{${grantId}}:grant`

const primaryPort = async (): Promise<number> => {
  const address = await sentinels[0]?.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'fleet')
  return Number((address as readonly string[] | undefined)?.[1])
}

const replicaPort = (primaryPort: number): number => (primaryPort === primary.port ? replica.port : primary.port)

const serverAt = (port: number): RunningRedis => (port === primary.port ? primary : replica)
