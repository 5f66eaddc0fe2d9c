import { readdirSync, readFileSync } from 'node:fs'

/**
 * The time that a process with its threads has had on a core since its start (proc(5)). It is measured in
 * nanoseconds, because `stat` counts hundredths of a second, too coarse for an idle process.
 */
export const cpuMsOf = (pid: number): number => {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + onCoreNs(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e6
}

const onCoreNs = (file: string): number => Number(readFileSync(file, 'utf8').split(' ')[0])
