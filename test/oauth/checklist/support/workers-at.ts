import type { RunningSidegate } from '../../../support/sidegate.ts'

/** The number of processes that have answered at this path, by the access log, which is written a moment later. */
export const workersAt = ({ output }: RunningSidegate, path: string): number => {
  const lines = output.filter(line => line.includes('"event":"request"') && line.includes(`"path":"${path}"`))
  return new Set(lines.map(line => /"worker_pid":(\d+)/.exec(line)?.[1])).size
}
