import type { ClientSync } from '../oauth/clients/client-sync.ts'
import type { StoredClientReader } from '../oauth/clients/joined-clients.ts'
import type { ClientGroup } from '../oauth/clients/stored-clients.ts'
import type { Recorder } from '../telemetry/recorder.ts'

/** Many clients may change at a time; they are counted when these milliseconds are over. */
const countEveryMs = 1000

/**
 * Counts which clients of the store fit a configuration, until closed. One of each kind is read, not all: what a reload takes
 * away, such as a plan, is the same for the others.
 */
export const meterStoredClients = (
  feed: ClientSync,
  reader: StoredClientReader,
  recorder: Recorder,
): { readonly close: () => void } => {
  const verdicts = new WeakMap<ClientGroup, boolean>()
  const holders = {
    valid: recorder.least('storedClients', ['valid']).hold(),
    invalid: recorder.least('storedClients', ['invalid']).hold(),
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
    holders.valid.set(counts.valid)
    holders.invalid.set(counts.invalid)
  }
  const unfollow = feed.follow(() => {
    timer ??= setTimeout(count, countEveryMs).unref()
  })
  count()
  return {
    close() {
      unfollow()
      clearTimeout(timer)
      holders.valid.release()
      holders.invalid.release()
    },
  }
}
