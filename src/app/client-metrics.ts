import type { ClientSync } from '../oauth/clients/client-sync.ts'
import type { StoredClientReader } from '../oauth/clients/joined-clients.ts'
import type { ClientGroup } from '../oauth/clients/stored-clients.ts'
import type { Recorder } from '../telemetry/recorder.ts'

/** Many clients may change at a time, so they are counted after this time, in milliseconds. */
const countEveryMs = 1000

/**
 * Counts the clients of the store that fit a configuration, until closed. One client of each group is read, not all,
 * because a setting that a reload removes, such as a plan, is the same for the whole group.
 */
export const meterStoredClients = (
  feed: ClientSync,
  reader: StoredClientReader,
  recorder: Recorder,
): { readonly close: () => void } => {
  const verdicts = new WeakMap<ClientGroup, boolean>()
  const contributions = {
    valid: recorder.least('storedClients', ['valid']).contribute(),
    invalid: recorder.least('storedClients', ['invalid']).contribute(),
  }
  let timer: NodeJS.Timeout | undefined

  const isValid = (kind: ClientGroup): boolean => {
    const known = verdicts.get(kind)
    if (known !== undefined) return known
    const fits = typeof reader.read(String(kind.sample.client_id), kind.sample) !== 'string'
    verdicts.set(kind, fits)
    return fits
  }
  const count = (): void => {
    timer = undefined
    const counts = { valid: 0, invalid: 0 }
    for (const kind of feed.groups()) counts[isValid(kind) ? 'valid' : 'invalid'] += kind.count
    contributions.valid.set(counts.valid)
    contributions.invalid.set(counts.invalid)
  }
  const unfollow = feed.follow(() => {
    timer ??= setTimeout(count, countEveryMs).unref()
  })
  count()
  return {
    close() {
      unfollow()
      clearTimeout(timer)
      contributions.valid.release()
      contributions.invalid.release()
    },
  }
}
