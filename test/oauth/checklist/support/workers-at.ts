import type { RunningSidegate } from '../../../support/sidegate.ts'

/** How many processes have answered at this path, by the access log; it is written a moment after the answers. */
export const workersAt = ({ output }: RunningSidegate, path: string): number => {
  const lines = output.filter(line => line.includes('"event":"request"') && line.includes(`"path":"${path}"`))
  return new Set(lines.map(line => /"worker_pid":(\d+)/.exec(line)?.[1])).size
}
