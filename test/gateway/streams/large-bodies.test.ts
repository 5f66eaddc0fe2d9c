import t from 'tap'
import { transfers } from '../../load/stress/transfers.ts'
import { forgetPeak, peakMiB, residentMiB } from '../../support/memory.ts'
import { startGateway } from '../support/running.ts'
import { startStressUpstream } from './support/stress-upstream.ts'

const bodyBytes = 96 * 1024 * 1024

/** Well below the body; V8 alone would let more of its buffers gather before it collects them. */
const mostGrowthMiB = 36

t.test('a large body takes no more memory than a small one, whoever is slow', async t => {
  const url = await startStressUpstream(t)
  const gateway = await startGateway(t, { up: url })
  const [worker = 0] = gateway.workerPids()
  const before = residentMiB(worker)

  for (const { title, share, run } of transfers) {
    forgetPeak(worker)
    await run(`${gateway.url}/up`, bodyBytes * share)

    const growth = peakMiB(worker) - before
    t.ok(growth < mostGrowthMiB, `${title}: ${Math.round(growth)} MiB more`)
  }
})
