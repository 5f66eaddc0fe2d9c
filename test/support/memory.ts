import { readFileSync, writeFileSync } from 'node:fs'

/** The resident memory of a process, as Linux counts it, in MiB. */
export const residentMiB = (pid: number): number => fieldOf(pid, 'VmRSS')

/**
 * The resident memory of several processes of one program together, in MiB. The pages of files that they map, nearly
 * all of them the program's own, are the same memory for each process and count once; `VmRSS` counts them for each.
 */
export const residentMiBTogether = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + fieldOf(pid, 'RssAnon') + fieldOf(pid, 'RssShmem'), 0) +
  Math.max(...pids.map(pid => fieldOf(pid, 'RssFile')))

/** The most that it has held since the last `forgetPeak`. */
export const peakMiB = (pid: number): number => fieldOf(pid, 'VmHWM')

/** Begins a new peak; `man 5 proc` has the 5. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** The processes that this one has started, and that have not ended. */
export const childrenOf = (pid: number): readonly number[] =>
  [...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').matchAll(/\d+/g)].map(([child]) => Number(child))

const fieldOf = (pid: number, name: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
}
