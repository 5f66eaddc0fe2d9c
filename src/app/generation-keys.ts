import { systemClock } from '../clock.ts'
import { type KeyRing, openKeyRing } from '../oauth/keys/key-ring.ts'
import { keyPolicyOf } from '../oauth/keys/rotation-schedule.ts'
import type { OAuthOptions } from '../oauth/options.ts'
import type { Store } from '../stores/ports/store.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import { auditKeys, type OnChange } from './audit-events.ts'
import { deepEqual } from './deep-equal.ts'
import { createKeyMeter } from './key-metrics.ts'

/** The store of the keys, and the observers of their changes. */
export interface GenerationKeysDeps {
  readonly store: Store
  readonly recorder: Recorder
  readonly onChange: OnChange
}

/** The keys of the current generation, and the options that they were opened with. */
export interface KeysBefore {
  readonly options: OAuthOptions
  readonly keys: KeyRing
}

/**
 * The keys for a configuration. The current ones are kept if the configuration has the same options for them. At a
 * start the store may be unavailable; a reload does not replace keys by none.
 * @param before undefined: at a start
 * @throws StoreUnavailableError if a reload needs other keys and the store does not answer
 */
export const findGenerationKeys = (
  options: OAuthOptions,
  deps: GenerationKeysDeps,
  before: KeysBefore | undefined,
): Promise<KeyRing> | KeyRing => {
  if (before === undefined) return openKeys(options, deps)
  return usesSameKeys(before.options, options) ? before.keys : openFilledKeys(options, deps)
}

const usesSameKeys = (before: OAuthOptions, after: OAuthOptions): boolean =>
  deepEqual([keyPolicyOf(before), before.keys], [keyPolicyOf(after), after.keys])

const openFilledKeys = async (options: OAuthOptions, deps: GenerationKeysDeps): Promise<KeyRing> => {
  const keys = await openKeys(options, deps)
  try {
    keys.publicJwks()
    return keys
  } catch (error) {
    keys.close()
    throw error
  }
}

const openKeys = async (options: OAuthOptions, { store, recorder, onChange }: GenerationKeysDeps): Promise<KeyRing> => {
  const meter = createKeyMeter(recorder)
  const ring = await openKeyRing(store.keys, systemClock, options, {
    rotation: meter.rotation,
    change: auditKeys(onChange),
  })
  return {
    ...ring,
    close() {
      ring.close()
      meter.close()
    },
  }
}
