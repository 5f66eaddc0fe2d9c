import { systemClock } from '../clock.ts'
import { type ClientSync, createClientSync } from '../oauth/clients/client-sync.ts'
import { type JoinedClients, joinClients, type StoredClientReader } from '../oauth/clients/joined-clients.ts'
import type { FeedWatch } from '../oauth/feed-watch.ts'
import type { ClientStore } from '../stores/ports/clients.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import { auditClients, type OnChange } from './audit-events.ts'
import { meterStoredClients } from './client-metrics.ts'
import type { LiveConfig, RestartOnlyConfig } from './restart-only-settings.ts'

/** The clients of the store, kept up to date while the process serves. */
export interface StoredClientsSource {
  /** Joins them with the clients of a configuration, until closed. */
  join(config: LiveConfig, fixed: RestartOnlyConfig): JoinedClients
  close(): void
}

type Reading = typeof import('../config/stored-client.ts')

/** Resolves when the store has been read. The code that parses stored clients is loaded when there is one. */
export const followStoredClients = async (
  store: ClientStore,
  watch: FeedWatch,
  { log, onChange, recorder }: { readonly log: Logger; readonly onChange: OnChange; readonly recorder: Recorder },
): Promise<StoredClientsSource> => {
  let reading: Reading | undefined
  const feed: ClientSync = createClientSync(store, watch, systemClock, {
    beforeFirst: async () => {
      reading = await import('../config/stored-client.ts')
    },
    changed: auditClients(onChange),
    lost: ({ count, keptDisabled }) =>
      log.error(
        { event: 'store_clients_missing', lost: count, kept_disabled: keptDisabled },
        `the store has lost clients: ${count}, of which ${keptDisabled} are kept as disabled`,
      ),
  })
  await feed.starting
  return {
    join(config, fixed) {
      const reader = lazily(() => reading?.createStoredClientReader({ ...fixed, ...config }))
      const joined = joinClients(config.oauth.clients, feed, reader, {
        invalid: (client_id, reason) =>
          log.warn(
            { event: 'client_invalid', client_id, reason },
            'a client of the store does not fit the configuration',
          ),
        shadowed: client_id =>
          log.warn({ event: 'client_shadowed', client_id }, "the configuration's client is served, not the store's"),
      })
      return closingBoth(joined, meterStoredClients(feed, reader, recorder))
    },
    close: feed.close,
  }
}

const closingBoth = (joined: JoinedClients, meter: { readonly close: () => void }): JoinedClients => ({
  find: joined.find,
  has: joined.has,
  get internedMetadata() {
    return joined.internedMetadata
  },
  get maxSecretsPerKind() {
    return joined.maxSecretsPerKind
  },
  close() {
    joined.close()
    meter.close()
  },
})

/** Created at the first use, because its code is not loaded before. */
const lazily = (make: () => StoredClientReader | undefined): StoredClientReader => {
  let made: StoredClientReader | undefined
  const reader = (): StoredClientReader => {
    made ??= make()
    if (!made) throw new TypeError('a client of the store is read before the code for it is there')
    return made
  }
  return {
    read: (client_id, members) => reader().read(client_id, members),
    metadataOf: members => reader().metadataOf(members),
  }
}
