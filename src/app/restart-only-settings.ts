import type { SidegateConfig } from '../config/load.ts'
import { deepEqual } from './deep-equal.ts'

/** Keys of the configuration that cannot change without a restart: sockets, processes, and the store. */
export const restartOnlySettings = [
  'listen',
  'tls',
  'requests',
  'admin',
  'internal',
  'workers',
  'pods',
  'store',
] as const satisfies readonly (keyof SidegateConfig)[]

type FixedKey = (typeof restartOnlySettings)[number]

/** The settings that remain as they were at the start. */
export type RestartOnlyConfig = Pick<SidegateConfig, FixedKey>

/** The settings that a reload may change. */
export type LiveConfig = Omit<SidegateConfig, FixedKey>

/** Why one configuration cannot replace the other without a restart; undefined if it can. */
export const findRestartOnlyChange = (before: SidegateConfig, after: SidegateConfig): string | undefined => {
  const changed = restartOnlySettings.filter(key => !deepEqual(before[key], after[key]))
  if (changed.length === 0) return undefined
  return `${changed.join(', ')} cannot change while Sidegate runs: restart it, or change ${changed.length === 1 ? 'it' : 'them'} back`
}
