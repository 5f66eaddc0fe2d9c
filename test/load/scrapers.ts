/**
 * Measures what scrapers that do not read their answers cost the primary: 300 of them, and 300 groupings. Prints how
 * long `/livez` took and how large the primary grew, and fails above 100 ms and 200 MiB. Ends by itself and leaves
 * nothing behind. `npx node test/load/scrapers.ts`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../support/free-port.ts'
import { residentMiB } from '../support/memory.ts'
import { answers, cores, Programs } from './program.ts'

const sidegate = join(import.meta.dirname, '../../src/sidegate.cjs')
const groupings = 300
const scrapers = 300
/** They come in waves, so that each wave gets an answer of its own. */
const waves = 20
const waveMs = 500
const mostLivezMs = 100
const mostPrimaryMiB = 200

const main = async (): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-scrapers-'))
  const sockets: Socket[] = []
  try {
    await using programs = new Programs()
    const [port, adminPort] = [await findFreePort(), await findFreePort()]
    const file = join(dir, 'sidegate.json')
    writeFileSync(file, JSON.stringify(toConfig(dir, port, adminPort)))
    const pid = await programs.start({
      name: 'sidegate',
      core: cores.all,
      command: [process.execPath, sidegate, 'serve', '--config', file],
      env: { LOG_LEVEL: 'warn' },
      readyWhen: () => answers(`http://127.0.0.1:${adminPort}/readyz`),
    })
    await askEveryGrouping(port)
    const admin = `http://127.0.0.1:${adminPort}`
    console.log(`an answer has ${((await (await fetch(`${admin}/metrics`)).text()).length / 2 ** 20).toFixed(1)} MiB`)
    const { livezMs, primaryMiB } = await measure(admin, adminPort, pid, sockets)
    console.log(`/livez took at most ${livezMs.toFixed(0)} ms, goal ${mostLivezMs} ms`)
    console.log(`the primary had at most ${primaryMiB.toFixed(0)} MiB, goal ${mostPrimaryMiB} MiB`)
    if (livezMs > mostLivezMs || primaryMiB > mostPrimaryMiB) process.exitCode = 1
  } finally {
    for (const socket of sockets) socket.destroy()
    rmSync(dir, { recursive: true, force: true })
  }
}

const toConfig = (dir: string, port: number, adminPort: number): object => ({
  issuer: `http://127.0.0.1:${port}`,
  listen: `127.0.0.1:${port}`,
  admin: `127.0.0.1:${adminPort}`,
  workers: 1,
  store: `sqlite:${join(dir, 'sidegate.db')}`,
  product: { name: 'load', title: 'Load', version: '1.0.0' },
  plans: { load: { title: 'Load', rate: '1000000/1second' } },
  groupings: Array.from({ length: groupings }, (_, nth) => ({
    name: `Grouping-${nth}`,
    version: '1.0.0',
    basePath: `/g${nth}`,
    upstream: 'away',
    operations: [{ method: 'GET', path: '/**', credentials: 'none', plan: 'none' }],
  })),
  upstreams: { away: { targets: ['http://127.0.0.1:1'] } },
  clients: [
    {
      client_id: 'load',
      client_secret: 'load-secret-0123456789abcdef',
      client_name: 'Load',
      grant_types: ['client_credentials'],
    },
  ],
  shutdown: { delay: '0s', timeout: '1s' },
})

/** So that each has its series. */
const askEveryGrouping = async (port: number): Promise<void> => {
  for (let nth = 0; nth < groupings; nth++) await (await fetch(`http://127.0.0.1:${port}/g${nth}/x`)).text()
}

interface Measured {
  /** The slowest answer. */
  readonly livezMs: number
  /** The largest resident size. */
  readonly primaryMiB: number
}

const measure = async (admin: string, adminPort: number, pid: number, sockets: Socket[]): Promise<Measured> => {
  let [livezMs, primaryMiB] = [0, 0]
  const untilMs = performance.now() + waves * waveMs
  const probe = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedAtMs = performance.now()
      await (await fetch(`${admin}/livez`)).text()
      livezMs = Math.max(livezMs, performance.now() - startedAtMs)
      primaryMiB = Math.max(primaryMiB, residentMiB(pid))
      await sleep(10)
    }
  }
  const scrape = async (): Promise<void> => {
    for (let wave = 0; wave < waves; wave++) {
      for (let nth = 0; nth < scrapers / waves; nth++) sockets.push(openScraper(adminPort))
      await sleep(waveMs)
    }
  }
  await Promise.all([probe(), scrape()])
  return { livezMs, primaryMiB }
}

/** Asks three times, and reads nothing. */
const openScraper = (port: number): Socket => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3))
  return socket
}

await main()
