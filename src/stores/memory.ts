import type { Clock } from '../clock.ts'
import { createClients } from './memory/clients.ts'
import { createExpiringMap } from './memory/expiring-map.ts'
import { createFeeds } from './memory/feeds.ts'
import { createGrants } from './memory/grants.ts'
import { createInteractions } from './memory/interactions.ts'
import { createKeys } from './memory/keys.ts'
import { createCutoffs } from './memory/not-before.ts'
import { createPushedRequests } from './memory/pushed-requests.ts'
import { createReplays } from './memory/replays.ts'
import { createRevocations } from './memory/revocations.ts'
import { createSubjects } from './memory/subjects.ts'
import { createTokens } from './memory/tokens.ts'
import type { GrantState } from './ports/grant-state.ts'
import type { Store } from './ports/store.ts'
import type { AccessTokenRecord } from './ports/tokens.ts'

/** The store of a single process, lost when it ends: `store: memory:`, for tests and trials. */
export const createMemoryStore = (clock: Clock): Store => {
  const grants = createExpiringMap<GrantState>(clock)
  const tokens = createExpiringMap<AccessTokenRecord>(clock)
  const { revocations, isRevoked } = createRevocations(clock, grants)
  const [cutoffs, clients] = [createCutoffs(clock), createClients()]
  return {
    name: 'memory',
    hasParts: false,
    keys: createKeys(clock),
    grants: createGrants(grants, tokens, isRevoked),
    tokens: createTokens(tokens, grants, isRevoked),
    revocations,
    cutoffs,
    interactions: createInteractions(clock),
    replays: createReplays(clock),
    subjects: createSubjects(clock),
    pushed: createPushedRequests(clock),
    clients,
    feeds: createFeeds({ revocations, cutoffs, clients }),
    ping: async () => undefined,
    close: async () => undefined,
  }
}
