import type { Clock } from '../clock.ts'
import { grantIdOf } from './grant-id.ts'
import {
  type GrantState,
  newGrantState,
  type Ruling,
  ruleRedemption,
  ruleRefresh,
  toFoundRefresh,
} from './grant-rules.ts'
import { createExpiringMap, type ExpiringMap } from './memory/expiring-map.ts'
import type {
  AccessTokenRecord,
  GrantStore,
  InteractionRecord,
  InteractionStore,
  KeyRecord,
  KeyStore,
  PushedRequest,
  PushedRequestStore,
  ReplayStore,
  RevocationStore,
  Store,
  TokenStore,
} from './ports.ts'

/** The store of one process, gone with it: `store: memory:`, for tests and trials. */
export const createMemoryStore = (clock: Clock): Store => {
  const revoked = createExpiringMap<number>(clock)
  const isRevoked = (id: string): boolean => revoked.get(id) !== undefined
  const grants = createExpiringMap<GrantState>(clock)
  return {
    name: 'memory',
    keys: createKeys(clock),
    grants: createGrants(grants, isRevoked),
    tokens: createTokens(clock, grants, isRevoked),
    revocations: createRevocations(revoked, grants, isRevoked),
    interactions: createInteractions(clock),
    replays: createReplays(clock),
    pushed: createPushed(clock),
    ping: async () => undefined,
    close: async () => undefined,
  }
}

const createKeys = (clock: Clock): KeyStore => {
  const keys = createExpiringMap<KeyRecord>(clock)
  const oldestFirst = (): readonly KeyRecord[] =>
    [...keys.entries()].map(([, entry]) => entry.value).sort((a, b) => a.createdAtMs - b.createdAtMs)
  return {
    load: async untilMs => {
      for (const [kid, entry] of [...keys.entries()]) keys.set(kid, entry.value, Math.max(entry.untilMs, untilMs))
      return oldestFirst()
    },
    create: async (record, after, untilMs) => {
      const newest = oldestFirst().findLast(key => key.alg === record.alg)
      if (newest?.kid === after) keys.set(record.kid, record, untilMs)
      return oldestFirst()
    },
    remove: async kid => keys.delete(kid),
  }
}

const createGrants = (grants: ExpiringMap<GrantState>, isRevoked: (id: string) => boolean): GrantStore => {
  const find = (grantId: string): GrantState | undefined => (isRevoked(grantId) ? undefined : grants.get(grantId))
  const settle = <Outcome>(grantId: string, { outcome, next }: Ruling<Outcome>): Outcome => {
    if (next) grants.set(grantId, next, next.untilMs)
    return outcome
  }
  return {
    create: async grant => grants.set(grant.grantId, newGrantState(grant), grant.untilMs),
    redeem: async redemption => {
      const state = find(redemption.grantId)
      return state ? settle(redemption.grantId, ruleRedemption(state, redemption)) : { kind: 'refused' }
    },
    refresh: async attempt => {
      const state = find(attempt.grantId)
      return state ? settle(attempt.grantId, ruleRefresh(state, attempt)) : { kind: 'refused' }
    },
    remove: async grantId => grants.delete(grantId),
  }
}

const createTokens = (
  clock: Clock,
  grants: ExpiringMap<GrantState>,
  isRevoked: (id: string) => boolean,
): TokenStore => {
  const tokens = createExpiringMap<AccessTokenRecord>(clock)
  const nameOf = (grantId: string, digest: string): string => `${grantId} ${digest}`
  const find = (grantId: string, digest: string): AccessTokenRecord | undefined => {
    const record = tokens.get(nameOf(grantId, digest))
    return record && !isRevoked(grantId) && !isRevoked(record.jti) ? record : undefined
  }
  return {
    save: async (grantId, digest, record, untilMs) => tokens.set(nameOf(grantId, digest), record, untilMs),
    find: async (grantId, digest) => find(grantId, digest),
    findAny: async (grantId, digest) => {
      const record = find(grantId, digest)
      if (record) return { kind: 'access', record }
      const state = isRevoked(grantId) ? undefined : grants.get(grantId)
      return state?.refreshDigest === digest ? toFoundRefresh(state) : undefined
    },
    remove: async (grantId, digest) => tokens.delete(nameOf(grantId, digest)),
  }
}

/** @param revoked each revoked id with its place in the feed */
const createRevocations = (
  revoked: ExpiringMap<number>,
  grants: ExpiringMap<GrantState>,
  isRevoked: (id: string) => boolean,
): RevocationStore => {
  let last = 0
  return {
    revoke: async (id, untilMs) => {
      const known = revoked.entry(id)
      revoked.set(id, ++last, Math.max(known?.untilMs ?? 0, untilMs))
      grants.delete(id) // a `jti` is no grant's id
    },
    isRevoked: async jti => isRevoked(jti) || isRevoked(grantIdOf(jti)),
    since: async cursor => {
      const seen = Number(cursor ?? 0)
      const fresh = [...revoked.entries()].filter(([, entry]) => entry.value > seen)
      return { revocations: fresh.map(([id, { untilMs }]) => ({ id, untilMs })), cursor: String(last) }
    },
  }
}

const createInteractions = (clock: Clock): InteractionStore => {
  const interactions = createExpiringMap<{ readonly record: InteractionRecord; readonly version: number }>(clock)
  return {
    create: async (id, record, untilMs) => interactions.set(id, { record, version: 1 }, untilMs),
    find: async id => interactions.get(id),
    replace: async (id, version, record) => {
      const current = interactions.entry(id)
      if (current?.value.version !== version) return false
      interactions.set(id, { record, version: version + 1 }, current.untilMs)
      return true
    },
  }
}

const createReplays = (clock: Clock): ReplayStore => {
  const spent = createExpiringMap<true>(clock)
  return {
    spend: async ids => {
      const known = ids.some(({ id }) => spent.get(id) !== undefined)
      for (const { id, untilMs } of ids) spent.set(id, true, untilMs)
      return !known
    },
  }
}

const createPushed = (clock: Clock): PushedRequestStore => {
  const requests = createExpiringMap<PushedRequest>(clock)
  const completed = createExpiringMap<string>(clock)
  return {
    create: async (id, request, untilMs) => requests.set(id, request, untilMs),
    find: async id => (completed.get(id) === undefined ? requests.get(id) : undefined),
    complete: async (id, interactionId, untilMs) => {
      const before = completed.get(id)
      if (before === undefined) completed.set(id, interactionId, untilMs)
      return before === undefined || before === interactionId
    },
  }
}
