import { readdirSync, readFileSync } from 'node:fs'

/** What Linux says of a running process, its threads included (proc(5)). */

/** The processes that it has started and that still run. */
export const childrenOf = (pid: number): readonly number[] =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap(thread => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '))
    .filter(child => child !== '')
    .map(Number)

/** Time on a core since it began. In nanoseconds underneath: `stat` counts hundredths of a second, too coarse for what is idle. */
export const cpuMsOf = (pid: number): number => {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + onCoreNs(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e6
}

const onCoreNs = (file: string): number => Number(readFileSync(file, 'utf8').split(' ')[0])

/** Memory that it has now, what it shares with others included. */
export const residentMiBOf = (pid: number): number => kibOf(pid, 'VmRSS') / 1024

const kibOf = (pid: number, field: string): number => {
  const value = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(value)
}
