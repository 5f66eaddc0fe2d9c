import { statSync } from 'node:fs'
import type { SidegateConfig } from '../../app.ts'
import { type Poll, poll } from '../../poll.ts'
import type { Logger } from '../../telemetry/logger.ts'

/** Looks whether the file of an embedded store is still the one that the workers have open: what they write would be lost. */
export interface StoreFileWatch {
  /** From now on another file is a wrong one: the workers have theirs open, so that no restore is let through. */
  begin(): void
  /** Whether another file is there by now, or none. */
  isReplaced(): boolean
  close(): void
}

const lookEveryMs = 1000

/** Any store but an embedded one has no file, and is not looked at. */
export const createStoreFileWatch = (store: SidegateConfig['store'], log: Logger): StoreFileWatch => {
  if (store.kind !== 'sqlite') return { begin: () => undefined, isReplaced: () => false, close: () => undefined }
  const { path } = store
  let opened: string | undefined
  let isReplaced = false
  let looking: Poll | undefined
  // At once, as SQLite itself asks for it: by a thread it would take ten times as much.
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

/** Undefined where there is none, or it cannot be asked for. */
const placeOf = (path: string): string | undefined => {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  } catch {
    return undefined
  }
}
