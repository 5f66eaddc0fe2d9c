import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'

/**
 * Number of CPUs that this process may use, at least 1: those that it may run on, but at most the container's quota. A
 * fraction of a CPU does not count, because one more worker would spend it on being throttled.
 * @param cgroups the mount point of the control groups
 */
export const usableCpus = (cgroups = '/sys/fs/cgroup'): number =>
  Math.max(1, Math.min(availableParallelism(), Math.floor(quotaV2(cgroups) ?? quotaV1(cgroups) ?? Infinity)))

/** cgroup v2: `cpu.max` holds `<quota> <period>` in microseconds, or `max <period>`. */
const quotaV2 = (cgroups: string): number | undefined => {
  const [quota, period] = readWords(join(cgroups, 'cpu.max'))
  return toCpus(Number(quota), Number(period))
}

/** cgroup v1: two files; a quota of -1 means no quota. */
const quotaV1 = (cgroups: string): number | undefined => {
  const [quota] = readWords(join(cgroups, 'cpu/cpu.cfs_quota_us'))
  const [period] = readWords(join(cgroups, 'cpu/cpu.cfs_period_us'))
  return toCpus(Number(quota), Number(period))
}

const toCpus = (quotaUs: number, periodUs: number): number | undefined =>
  quotaUs > 0 && periodUs > 0 ? quotaUs / periodUs : undefined

const readWords = (file: string): readonly string[] => {
  try {
    return readFileSync(file, 'utf8').trim().split(/\s+/)
  } catch {
    return [] // not this version of control groups, or none
  }
}

/** Bytes of memory that this process may use: those of the machine, but at most the limit of its container. */
export const usableMemoryBytes = (): number => {
  const limit = process.constrainedMemory()
  // 0: there is no limit, or it is unknown.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
