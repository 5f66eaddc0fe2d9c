import type { Clock } from '../clock.ts'
import { grantIdOf } from './grant-id.ts'
import { type GrantState, newGrantState, type Ruling, ruleRedemption, ruleRefresh } from './grant-rules.ts'
import { createExpiringMap, type ExpiringMap } from './memory/expiring-map.ts'
import type {
  AccessTokenRecord,
  GrantStore,
  InteractionRecord,
  InteractionStore,
  KeyRecord,
  KeyStore,
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
    tokens: createTokens(clock, isRevoked),
    revocations: createRevocations(revoked, grants, isRevoked),
    interactions: createInteractions(clock),
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
    createFirst: async (record, untilMs) => {
      if (!oldestFirst().some(key => key.alg === record.alg)) keys.set(record.kid, record, untilMs)
      return oldestFirst()
    },
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
    findByRefresh: async (grantId, digest) => {
      const state = find(grantId)
      if (!state || state.refreshDigest !== digest) return undefined
      return { record: state.record, untilMs: state.untilMs, createdAtMs: state.refreshedAtMs }
    },
    remove: async grantId => grants.delete(grantId),
  }
}

const createTokens = (clock: Clock, isRevoked: (id: string) => boolean): TokenStore => {
  const tokens = createExpiringMap<AccessTokenRecord>(clock)
  const nameOf = (grantId: string, digest: string): string => `${grantId} ${digest}`
  return {
    save: async (grantId, digest, record, untilMs) => tokens.set(nameOf(grantId, digest), record, untilMs),
    find: async (grantId, digest) => {
      const record = tokens.get(nameOf(grantId, digest))
      return record && !isRevoked(grantId) && !isRevoked(record.jti) ? record : undefined
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
