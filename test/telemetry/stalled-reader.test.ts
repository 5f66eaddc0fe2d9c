import t, { type Test } from 'tap'
import { launcher } from '../cli/run.ts'
import { openPath } from '../cluster/support/gateway.ts'
import { writeConfig } from '../config/support.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { scrape, sumOf } from './support/exposition.ts'
import { onPipe, onTerminal, onUnixSocket, type StartStalled } from './support/stalled-output.ts'

/**
 * More access lines than any of the outputs can buffer: a socket buffers some 200 KiB, and the line of a long path has
 * over 1000 bytes.
 */
const requests = 600
const longPath = `/${'x'.repeat(1000)}`

const startGateway = async (t: Test, startStalled: StartStalled) => {
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const [url, admin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`]
  const file = writeConfig(t, {
    listen: `127.0.0.1:${port}`,
    admin: `127.0.0.1:${adminPort}`,
    workers: 2,
    store: `sqlite:${t.testdir()}/sidegate.db`,
    groupings: [{ name: 'Open', operations: [{ method: 'GET', path: openPath, serves: 'jwks', plan: 'none' }] }],
    shutdown: { delay: '0s', timeout: '10s' },
  })
  const command = [process.execPath, launcher, 'serve', '--config', file]
  const stalled = await startStalled(t, command, () => eventually(async () => (await fetch(`${admin}/readyz`)).ok))
  return { url, admin, ...stalled }
}

/** Sends each request on its own connection, so that both workers get some. */
const ask = async (url: string): Promise<number> => {
  const answer = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(20_000) })
  await answer.arrayBuffer()
  return answer.status
}

/** @returns the distinct statuses of the answers */
const askOften = async (url: string, times: number): Promise<readonly number[]> => {
  const statuses = new Set<number>()
  for (let asked = 0; asked < times; asked += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url)))
    for (const status of answers) statuses.add(status)
  }
  return [...statuses]
}

const kinds = { 'a pipe': onPipe, 'a UNIX socket': onUnixSocket, 'a terminal': onTerminal } as const

for (const [kind, startStalled] of Object.entries(kinds)) {
  t.test(
    `while the reader of ${kind} stalls, the gateway serves, is ready, and ends in good order at SIGTERM`,
    async t => {
      const { url, admin, pid, ended } = await startGateway(t, startStalled)

      t.same(await askOften(url + longPath, requests), [404])
      t.same(await askOften(url + openPath, 20), [200])
      t.equal((await fetch(`${admin}/readyz`)).status, 200)
      t.equal(sumOf(await scrape(admin), 'sidegate_http_requests_total', { code: '404' }), requests)
      process.kill(pid, 'SIGTERM')

      t.equal(await ended(), 0)
    },
  )
}
