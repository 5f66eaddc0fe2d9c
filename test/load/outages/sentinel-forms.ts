import { type RunningRedis, startRedis, startSentinel } from '../../support/redis.ts'
import { anyClients, type Form, until, untilWritable } from './form.ts'

/** A primary and its replica under the eyes of a Sentinel, which takes half a second of silence for an end. */
const failover = (
  name: string,
  title: string,
  goAway: (primary: RunningRedis, sentinel: RunningRedis) => Promise<unknown>,
): Form => ({
  name,
  title: `Sentinel: ${title}`,
  start: async t => {
    const replication = ['--repl-diskless-sync-delay', '0']
    const primary = await startRedis(t, replication)
    const replica = await startRedis(t, [...replication, '--replicaof', '127.0.0.1', `${primary.port}`])
    const sentinel = await startSentinel(t, primary.port)
    await untilReady(replica, sentinel)
    return {
      store: `redis+sentinel://127.0.0.1:${sentinel.port}/fleet`,
      clientIds: anyClients,
      goAway: async () => void (await goAway(primary, sentinel)),
      comeBack: async () => {
        await untilNamed(replica, sentinel)
        await untilWritable(replica)
      },
    }
  },
})

const untilReady = async (replica: RunningRedis, { client }: RunningRedis): Promise<void> => {
  await until(async () => String(await client.call('SENTINEL', 'REPLICAS', 'fleet')).includes('flags,slave,'))
  await until(async () => (await replica.client.info('replication')).includes('master_link_status:up'))
}

/** A Sentinel names the new primary up to a second after that one takes writes. */
const untilNamed = ({ port }: RunningRedis, { client }: RunningRedis): Promise<void> =>
  until(async () => String(await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'fleet')).endsWith(`,${port}`))

export const sentinelForms: readonly Form[] = [
  failover('gives-way', 'the primary gives way', (_, { client }) => client.call('SENTINEL', 'FAILOVER', 'fleet')),
  failover('primary-killed', 'the primary is killed', primary => primary.kill()),
  failover('primary-stopped', 'the primary is stopped', async primary => primary.pause()),
]
