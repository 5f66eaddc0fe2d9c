import { readFileSync } from 'node:fs'
import { childrenOf } from './memory.ts'

/** Linux counts it in hundredths of a second, whatever the kernel's own clock (`man 5 proc`, `USER_HZ`). */
const tickUs = 10_000

/**
 * The processor time that a process and its children have used until now, in microseconds. Ended processes do not
 * count.
 */
export const cpuTimeUs = (pid: number): number =>
  childrenOf(pid).reduce(
    (sumUs, child) => sumUs + cpuTimeUs(child),
    parseCpuTimeUs(readFileSync(`/proc/${pid}/stat`, 'utf8')),
  )

/**
 * `utime` and `stime` of a `/proc/PID/stat`. The name of the program stands before them in brackets, and may contain
 * any character.
 */
export const parseCpuTimeUs = (stat: string): number => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickUs
}
