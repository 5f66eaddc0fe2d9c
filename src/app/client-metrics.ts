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
  const contributions = {
    fit: recorder.least('storedClients', ['fit']).contribute(),
    unfit: recorder.least('storedClients', ['unfit']).contribute(),
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
    const counts = { fit: 0, unfit: 0 }
    for (const kind of feed.kinds()) counts[isFit(kind) ? 'fit' : 'unfit'] += kind.count
    contributions.fit.set(counts.fit)
    contributions.unfit.set(counts.unfit)
  }
  const unfollow = feed.follow(() => {
    timer ??= setTimeout(count, countEveryMs).unref()
  })
  count()
  return {
    close() {
      unfollow()
      clearTimeout(timer)
      contributions.fit.release()
      contributions.unfit.release()
    },
  }
}
