/** A worker that starts while a new configuration is adopted serves the new one, and never the previous one. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { reload } from './support/config-file.ts'
import { logEntries, openPath, startGateway, workerPid } from './support/gateway.ts'

const publishedAt = (path: string) => ({
  groupings: [{ name: 'Open', operations: [{ method: 'GET', path, serves: 'jwks', plan: 'none' }] }],
})

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

/** Whether the process has a TCP connection to this port of 127.0.0.1. */
const isConnectedTo = (pid: number, port: number): boolean => {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n')
  const inodes = rows.map(row => row.trim().split(/\s+/)).flatMap(row => (row[2] === remote ? [row[9]] : []))
  return readdirSync(`/proc/${pid}/fd`).some(fd => {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
    return inode !== undefined && inodes.includes(inode)
  })
}

t.test('a worker that received the old configuration serves the new one once it is ready', async t => {
  const redis = await startRedis(t)
  const sidegate = await startGateway(t, { workers: 2, store: redis.url })
  const before = childrenOf(sidegate.pid)
  redis.pause()
  process.kill(workerPid(sidegate), 'SIGKILL')
  const findStarting = (): number | undefined => childrenOf(sidegate.pid).find(pid => !before.includes(pid))
  // The worker has received the configuration by now, and waits for the store to build the gateway.
  await eventually(() => isConnectedTo(findStarting() ?? 0, redis.port))

  await reload(sidegate, publishedAt('/keys'))
  t.equal(logEntries(sidegate, 'config_reloaded').length, 1)
  t.equal(logEntries(sidegate, 'worker_ready').length, 2, 'the worker is still starting')
  redis.resume()
  const statuses = new Set<string>()
  const ask = async (path: string): Promise<void> => {
    const { status } = await fetch(sidegate.url + path, { headers: { connection: 'close' } })
    statuses.add(`${path} ${status}`)
  }
  await eventually(async () => {
    await Promise.all([ask('/keys'), ask(openPath)])
    const ready = logEntries(sidegate, 'worker_ready').at(2)?.worker_pid
    return ready !== undefined && logEntries(sidegate, 'request').some(({ worker_pid }) => worker_pid === ready)
  })

  t.same([...statuses].sort(), [`${openPath} 404`, '/keys 200'])
})
