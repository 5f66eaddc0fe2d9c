import type { App, ClientIntake, Prepared } from '../../app.ts'
import { firstLineOf } from '../../errors.ts'
import { decodeConfig } from '../ipc/config-codec.ts'
import type { EncodedConfig } from '../messages.ts'

/**
 * The configurations that the primary proposes while the worker serves. Each is built first, and served only when every
 * worker could build it.
 */
export interface StagedConfigs {
  /** @returns why this worker cannot serve it, in one line; undefined if it can */
  prepare(id: number, encodedConfig: EncodedConfig): Promise<string | undefined>
  /** @returns false if this worker has not built it, because it started later */
  commit(id: number): boolean
  abort(id: number): void
}

export const createStagedConfigs = (app: App, intake: ClientIntake): StagedConfigs => {
  let built: { readonly id: number; readonly prepared: Prepared } | undefined
  /** The id of the last configuration that was committed or aborted. */
  let lastSettled = 0
  const forget = (): void => {
    void built?.prepared.discard()
    built = undefined
  }
  return {
    async prepare(id, encodedConfig) {
      forget()
      try {
        const prepared = await app.prepare(decodeConfig(encodedConfig, intake))
        // It was aborted meanwhile, or committed so early that this worker has asked for it again.
        if (id <= lastSettled) await prepared.discard()
        else built = { id, prepared }
        return undefined
      } catch (error) {
        return firstLineOf(error)
      }
    },
    commit(id) {
      lastSettled = id
      if (built?.id !== id) return false
      built.prepared.adopt()
      built = undefined
      return true
    },
    abort(id) {
      lastSettled = id
      if (built?.id === id) forget()
    },
  }
}
