/**
 * Sends a million requests of every kind that could create a series of metrics from a caller's text, and prints how
 * many series a scrape has on the way, beside the number that the configuration allows. Fails if there are others.
 * `npx node test/load/cardinality.ts [COUNT]`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig, type SidegateConfig } from '../../src/config/load.ts'
import { findFreePort } from '../support/free-port.ts'
import { scrape } from '../telemetry/support/exposition.ts'
import { ceilingOf, seriesMakersOf, straysIn } from '../telemetry/support/series.ts'
import { sendWildRequests, startWildUpstream, wildConfig } from '../telemetry/support/wild-requests.ts'
import { toCount } from './count.ts'
import { answers, cores, Programs } from './program.ts'

const sidegate = join(import.meta.dirname, '../../src/sidegate.cjs')
const defaultCount = 1_000_000
const rounds = 10

const main = async (): Promise<void> => {
  const count = process.argv[2] === undefined ? defaultCount : toCount(process.argv[2])
  const upstream = await startWildUpstream()
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-cardinality-'))
  try {
    await using programs = new Programs()
    const file = join(dir, 'sidegate.yaml')
    const [port, adminPort] = [await findFreePort(), await findFreePort()]
    const [listen, admin] = [`127.0.0.1:${port}`, `127.0.0.1:${adminPort}`]
    writeFileSync(file, stringify({ ...wildConfig(upstream.url), listen, admin, store: `sqlite:${dir}/sidegate.db` }))
    await programs.start({
      name: 'sidegate',
      core: cores.all,
      command: [process.execPath, sidegate, 'serve', '--config', file],
      readyWhen: () => answers(`http://${admin}/readyz`),
    })
    await measure(await read(file), { origin: `http://${listen}`, admin: `http://${admin}`, count })
  } finally {
    upstream.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

const read = async (file: string): Promise<SidegateConfig> => {
  const loaded = await loadConfig(file, {})
  if (loaded.ok) return loaded.config
  throw new Error('the configuration of this command cannot be loaded')
}

interface Run {
  readonly origin: string
  readonly admin: string
  readonly count: number
}

const measure = async (config: SidegateConfig, { origin, admin, count }: Run): Promise<void> => {
  const makers = seriesMakersOf(config)
  console.log(`the configuration allows ${ceilingOf(makers)} series`)
  for (let round = 1; round <= rounds; round++) {
    await sendWildRequests(origin, Math.ceil(count / rounds), round)
    const exposition = await scrape(admin)
    const strays = straysIn(exposition, makers)
    console.log(`${Math.ceil((count / rounds) * round)} requests: ${exposition.samples.length} series`)
    if (strays.length > 0) throw new Error(`series that it does not allow: ${JSON.stringify(strays.slice(0, 5))}`)
  }
}

await main()
