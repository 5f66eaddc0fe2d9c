import { type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { SidegateConfig } from '../app.ts'
import type { Logger } from '../telemetry/logger.ts'

/** Looks whether the file of an embedded store is still the one that the workers have open: what they write would be lost. */
export interface StoreFileWatch {
  /** Whether another file is there by now, or none. */
  isReplaced(): boolean
  close(): void
}

const lookEveryMs = 1000

/** To be called once the store has been opened. Any store but an embedded one has no file, and is not looked at. */
export const createStoreFileWatch = (store: SidegateConfig['store'], log: Logger): StoreFileWatch => {
  if (store.kind !== 'sqlite') return { isReplaced: () => false, close: () => undefined }
  const { path } = store
  const opened = placeOf(statSync(path, { throwIfNoEntry: false }))
  let isReplaced = false
  const look = async (): Promise<void> => {
    const wasReplaced = isReplaced
    isReplaced = placeOf(await stat(path).catch(() => undefined)) !== opened
    if (isReplaced && !wasReplaced)
      log.error(
        { event: 'store_replaced', store: store.kind },
        'the file of the store is gone or another one, and what is written is lost: restart the gateway',
      )
  }
  const timer = setInterval(look, lookEveryMs)
  timer.unref()
  return { isReplaced: () => isReplaced, close: () => clearInterval(timer) }
}

const placeOf = (found: Stats | undefined): string | undefined => found && `${found.dev}:${found.ino}`
