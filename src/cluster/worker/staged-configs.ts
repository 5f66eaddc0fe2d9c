import type { App, ClientIntake, Prepared } from '../../app.ts'
import { firstLineOf } from '../../errors.ts'
import { decodeConfig } from '../ipc/config-codec.ts'
import type { EncodedConfig } from '../messages.ts'

/**
 * The configurations that the primary proposes to a worker while it serves: each is built first, and served only once
 * every worker could build it.
 */
export interface StagedConfigs {
  /** @returns why it cannot be served here, in one line; undefined where it can */
  prepare(id: number, encodedConfig: EncodedConfig): Promise<string | undefined>
  /** @returns false where it was not built here: the worker came later */
  commit(id: number): boolean
  abort(id: number): void
}

export const createStagedConfigs = (app: App, intake: ClientIntake): StagedConfigs => {
  let built: { readonly id: number; readonly prepared: Prepared } | undefined
  /** The last one that was adopted or discarded. */
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
        // Another worker refused it meanwhile, or it was adopted too early and this worker has asked for it anew.
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
