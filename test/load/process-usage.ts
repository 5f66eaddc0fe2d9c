import { readdirSync, readFileSync } from 'node:fs'

/**
 * Time that a process, its threads included, has had on a core since it began (proc(5)). In nanoseconds underneath: `stat` counts
 * hundredths of a second, too coarse for a process that is idle.
 */
export const cpuMsOf = (pid: number): number => {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + onCoreNs(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e6
}

const onCoreNs = (file: string): number => Number(readFileSync(file, 'utf8').split(' ')[0])
