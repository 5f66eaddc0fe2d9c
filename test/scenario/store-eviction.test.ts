/** A Redis that may evict keys, as the log, the admin port and `check --store` show it. */
import t from 'tap'
import { type Outcome, sidegate as runCommand } from '../cli/run.ts'
import { logEntries } from '../cluster/support/gateway.ts'
import { writeConfig } from '../config/support.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { startLonelyNode } from '../support/redis-cluster.ts'
import { admitLeastUser, findRefusals, leastUser } from '../support/redis-user.ts'
import { startSidegate } from '../support/sidegate.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'

const [single, node] = await Promise.all([startRedis(t), startLonelyNode(t)])
await Promise.all([admitLeastUser(single), admitLeastUser(node)])

const config = {
  workers: 1,
  groupings: [{ name: 'OAuth', operations: [{ method: 'POST', path: '/token', serves: 'token', plan: 'none' }] }],
}

for (const [name, redis, scheme] of [
  ['a Redis', single, 'redis'],
  ['a Cluster', node, 'redis+cluster'],
] as const) {
  t.test(
    `with the documented rights, ${name} that may evict keys is warned of, and one that keeps them is not`,
    async t => {
      const store = `${scheme}://${leastUser}@127.0.0.1:${redis.port}`
      const file = writeConfig(t, { ...config, store })
      // On a busy machine a command may not be connected within the second that it waits for Redis.
      const check = async (...options: readonly string[]): Promise<Outcome> => {
        const outcome = await runCommand(['check', '--store', '--config', file, ...options])
        return outcome.stderr.includes('the redis store is unavailable') ? check(...options) : outcome
      }
      const start = async () => {
        const running = await startSidegate(t, { ...config, store })
        const { admin } = running
        const readLine = async (): Promise<string | undefined> => {
          const text = await (await fetch(`${admin}/readyz?verbose`)).text()
          return /^store eviction: (.*)$/m.exec(text)?.[1]
        }
        await eventually(async () => (await readLine()) !== 'unknown')
        const gauge = sumOf(await scrape(admin), 'sidegate_store_noeviction', { store: 'redis' })
        return { line: await readLine(), gauge, entries: logEntries(running, 'store_evicts') }
      }

      await redis.client.config('SET', 'maxmemory-policy', 'noeviction')
      t.same(await start(), { line: 'none', gauge: 1, entries: [] })
      t.equal((await check()).code, 0)

      await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru')
      const { line, gauge, entries } = await start()
      t.equal(line, 'allkeys-lru (set maxmemory-policy to noeviction)')
      t.equal(gauge, 0)
      t.same(
        entries.map(({ reason }) => reason),
        ['maxmemory-policy is allkeys-lru'],
      )
      const people = await check()
      const machines = await check('--json')
      t.same(people, {
        code: 1,
        stdout: '',
        stderr: `${file}: the Redis of the store has maxmemory-policy allkeys-lru and may evict keys; set it to noeviction\n`,
      })
      t.same(JSON.parse(machines.stdout), { ok: false, problems: [], invalid: [], evicts: ['allkeys-lru'] })
      t.same(await findRefusals(redis), [])
    },
  )
}
