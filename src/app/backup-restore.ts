import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { backUpFile } from '../stores/sqlite/backup.ts'
import { restoreFile } from '../stores/sqlite/restore.ts'

/** What a command does with an embedded store as a file. */

/** @throws Error one line for a person, as `backUpFile` does; or because the configuration's store is no file */
export const backUpStore = ({ store }: SidegateConfig, to: string): Promise<void> => backUpFile(pathOf(store), to)

/**
 * @returns where what was there is kept, as `restoreFile` has it
 * @throws Error one line for a person, as `restoreFile` does; or because the configuration's store is no file
 */
export const restoreStore = ({ store }: SidegateConfig, from: string): Promise<string | undefined> =>
  restoreFile(from, pathOf(store), systemClock)

const pathOf = (store: SidegateConfig['store']): string => {
  switch (store.kind) {
    case 'sqlite':
      return store.path
    case 'redis':
      throw new Error("the store is a Redis, which has its own backups: see Redis's persistence")
    case 'memory':
      throw new Error('store: memory: keeps nothing beyond its process')
  }
}
