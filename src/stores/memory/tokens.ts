import type { GrantState } from '../ports/grant-state.ts'
import type { AccessTokenRecord, TokenStore } from '../ports/tokens.ts'
import { toFoundRefresh } from '../shared/grant-rules.ts'
import type { ExpiringMap } from './expiring-map.ts'

/** The opaque access tokens, by grant id and digest. */
export type KeptTokens = ExpiringMap<AccessTokenRecord>

export const nameOf = (grantId: string, digest: string): string => `${grantId} ${digest}`

export const createTokens = (
  tokens: KeptTokens,
  grants: ExpiringMap<GrantState>,
  isRevoked: (id: string) => boolean,
): TokenStore => {
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
