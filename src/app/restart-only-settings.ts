import type { SidegateConfig } from '../config/load.ts'
import { deepEqual } from './deep-equal.ts'

/** Keys of the configuration that a running gateway cannot change: sockets, processes, and where everything is kept. */
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

/** What stays as it was at the start. */
export type RestartOnlyConfig = Pick<SidegateConfig, FixedKey>

/** What a reload may change. */
export type LiveConfig = Omit<SidegateConfig, FixedKey>

/** Why one configuration cannot follow the other without a restart, or undefined where it can. */
export const findRestartOnlyChange = (before: SidegateConfig, after: SidegateConfig): string | undefined => {
  const changed = restartOnlySettings.filter(key => !deepEqual(before[key], after[key]))
  if (changed.length === 0) return undefined
  return `${changed.join(', ')} cannot change while Sidegate runs: restart it, or change ${changed.length === 1 ? 'it' : 'them'} back`
}
