import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { forgetPeak, peakMiB } from '../../support/memory.ts'
import { toCount } from '../count.ts'
import { Programs } from '../program.ts'
import { startStressedGateway } from './gateway.ts'
import { transfers } from './transfers.ts'

export const streamsUsage = 'npm run bench -- streams [--mebibytes N]'

/** The maximum resident memory of a worker. */
const mostMiB = 150

/** The size of each body in bytes; undefined where only help was asked for. Throws a TypeError for what is no size. */
export const parseStreamsOptions = (args: readonly string[]): number | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: { mebibytes: { type: 'string', default: '1024' }, help: { type: 'boolean', default: false } },
  })
  return values.help ? undefined : toCount(values.mebibytes) * 1024 * 1024
}

/**
 * Sends large bodies through a gateway, and prints the memory of its worker. Resolves to whether that stayed below
 * 150 MiB.
 */
export const benchStreams = async (bytes: number, interruption: AbortSignal): Promise<boolean> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-streams-'))
  await using programs = new Programs()
  try {
    const { origin, workerPid } = await startStressedGateway(programs, dir)
    const lines = ['| Body | MiB | MiB/s | most that the worker held |', '| --- | --- | --- | --- |']
    let isFlat = true
    for (const { title, share, run } of transfers) {
      interruption.throwIfAborted()
      forgetPeak(workerPid)
      const startedAtMs = performance.now()
      await run(origin, bytes * share)
      const sentMiB = (bytes * share) / 1024 / 1024
      const perSec = (sentMiB / (performance.now() - startedAtMs)) * 1000
      const heldMiB = peakMiB(workerPid)
      isFlat &&= heldMiB < mostMiB
      lines.push(`| ${title} | ${sentMiB} | ${perSec.toFixed(0)} | ${heldMiB.toFixed(0)} MiB |`)
    }
    console.log(lines.join('\n'))
    return isFlat
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
