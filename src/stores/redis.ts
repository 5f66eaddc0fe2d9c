import type { Clock } from '../clock.ts'
import type { Store } from './ports/store.ts'
import { createClients } from './redis/clients.ts'
import { pingShards } from './redis/cluster-shards.ts'
import { connectRedis, waitUntilReady } from './redis/connection.ts'
import { createFeeds } from './redis/feeds.ts'
import { createGrants } from './redis/grants.ts'
import { createInteractions } from './redis/interactions.ts'
import { createKeys } from './redis/keys.ts'
import { createCutoffs } from './redis/not-before.ts'
import { createPushedRequests } from './redis/pushed-requests.ts'
import { createReplays } from './redis/replays.ts'
import { createRevocations } from './redis/revocations.ts'
import { createSubjects } from './redis/subjects.ts'
import { createTokens } from './redis/tokens.ts'
import type { RedisUrl } from './store-url.ts'

/** Longest wait for a reply, and for any data before the connection is made again, in milliseconds. */
const commandTimeoutMs = 1000
const silenceMs = 1500

/** How long a start waits for Redis before it continues without, in milliseconds. */
const startPatienceMs = 1000

/**
 * The store that pods share: one Redis, a primary behind Sentinels, or a Cluster. Opening never fails. While Redis is
 * unavailable every call throws StoreUnavailableError at once; soon after it is back calls succeed again.
 */
export const openRedisStore = async (url: RedisUrl, clock: Clock): Promise<Store> => {
  const connection = connectRedis(url, { commandTimeoutMs, silenceMs })
  const store: Store = {
    name: 'redis',
    hasParts: url.mode === 'cluster',
    keys: createKeys(connection, clock),
    grants: createGrants(connection, clock),
    tokens: createTokens(connection, clock),
    revocations: createRevocations(connection, clock),
    cutoffs: createCutoffs(connection, clock),
    interactions: createInteractions(connection, clock),
    replays: createReplays(connection),
    subjects: createSubjects(connection, clock),
    pushed: createPushedRequests(connection, clock),
    clients: createClients(connection),
    feeds: createFeeds(connection),
    ping: () => pingShards(connection),
    close: async () => connection.disconnect(),
  }
  await waitUntilReady(connection, startPatienceMs)
  return store
}
