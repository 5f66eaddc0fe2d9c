import t from 'tap'
import { transfers } from '../../load/stress/transfers.ts'
import { forgetPeak, peakMiB, residentMiB } from '../../support/memory.ts'
import { startGateway } from '../support/running.ts'
import { startStressUpstream } from './support/stress-upstream.ts'

const MiB = 1024 * 1024
const smallBytes = 8 * MiB
const largeBytes = 192 * MiB

/** Seen are 6 at most, on a machine with four times the work it can do; where V8 is left to itself, 30 and more. */
const mostGrowthMiB = 24

t.test('a large body takes as much memory as a small one, whichever side is slow', async t => {
  const url = await startStressUpstream(t)
  const gateway = await startGateway(t, { up: url })
  const [worker = 0] = gateway.workerPids()
  for (const { share, run } of transfers) await run(`${gateway.url}/up`, smallBytes * share)
  const before = residentMiB(worker)

  for (const { title, share, run } of transfers) {
    forgetPeak(worker)
    await run(`${gateway.url}/up`, largeBytes * share)

    const growth = peakMiB(worker) - before
    t.ok(growth < mostGrowthMiB, `${title}: ${Math.round(growth)} MiB more`)
  }
})
