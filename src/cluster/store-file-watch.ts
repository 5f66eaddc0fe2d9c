import { type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { SidegateConfig } from '../app.ts'
import type { Logger } from '../telemetry/logger.ts'

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
  let timer: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    const wasReplaced = isReplaced
    isReplaced = placeOf(await stat(path).catch(() => undefined)) !== opened
    if (isReplaced && !wasReplaced)
      log.error(
        { event: 'store_replaced', store: store.kind },
        'the file of the store is gone or another one, and what is written is lost: restart the gateway',
      )
  }
  return {
    begin() {
      opened = placeOf(statSync(path, { throwIfNoEntry: false }))
      timer = setInterval(look, lookEveryMs)
      timer.unref()
    },
    isReplaced: () => isReplaced,
    close: () => clearInterval(timer),
  }
}

const placeOf = (found: Stats | undefined): string | undefined => found && `${found.dev}:${found.ino}`
