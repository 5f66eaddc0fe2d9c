import { statSync } from 'node:fs'
import type { SidegateConfig } from '../../app.ts'
import { type Poll, poll } from '../../poll.ts'
import type { Logger } from '../../telemetry/logger.ts'

/**
 * Checks whether the file of an embedded store is still the one that the workers have open. If it is not, their writes
 * are lost.
 */
export interface StoreFileWatch {
  /**
   * From now on a different file is a fault. The workers have the file open, so no restore can replace it in good
   * order.
   */
  begin(): void
  /** Whether the file was removed or replaced. */
  isReplaced(): boolean
  close(): void
}

const lookEveryMs = 1000

/** Only an embedded store has a file to check. */
export const createStoreFileWatch = (store: SidegateConfig['store'], log: Logger): StoreFileWatch => {
  if (store.kind !== 'sqlite') return { begin: () => undefined, isReplaced: () => false, close: () => undefined }
  const { path } = store
  let opened: string | undefined
  let isReplaced = false
  let looking: Poll | undefined
  // Synchronous, like the calls of SQLite itself: in a thread it would take ten times as long.
  const look = (): void => {
    const wasReplaced = isReplaced
    isReplaced = placeOf(path) !== opened
    if (isReplaced && !wasReplaced)
      log.error(
        { event: 'store_replaced', store: store.kind },
        'the file of the store is gone or another one, and what is written is lost: restart the gateway',
      )
  }
  return {
    begin() {
      opened = placeOf(path)
      looking = poll(look, lookEveryMs)
    },
    isReplaced: () => isReplaced,
    close: () => looking?.close(),
  }
}

/** Undefined if there is no file, or if its state cannot be read. */
const placeOf = (path: string): string | undefined => {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  } catch {
    return undefined
  }
}
