import { randomBytes } from 'node:crypto'
import type { GrantRecord } from '../../src/stores/ports/grant-record.ts'
import type { NewGrant, Redemption, RefreshAttempt } from '../../src/stores/ports/grants.ts'
import type { InteractionRecord } from '../../src/stores/ports/interactions.ts'
import type { KeyRecord } from '../../src/stores/ports/keys.ts'
import type { PushedRequest } from '../../src/stores/ports/pushed-requests.ts'
import type { Store } from '../../src/stores/ports/store.ts'
import type { TokenDraft } from '../../src/stores/ports/token-draft.ts'
import type { AccessTokenRecord } from '../../src/stores/ports/tokens.ts'

/** Records for the conformance suite: each call makes a fresh one, so that tests can share a store. */

export const newId = (): string => randomBytes(16).toString('base64url')

export const grantRecord: GrantRecord = {
  client_id: 'demo',
  sub: 'f3a1',
  username: 'zoë "the \\ second"\n',
  scope: 'accounts:read offline_access',
  resource: ['https://api.example/accounts'],
  authTimeSec: 1_790_000_000,
  acr: 'urn:example:loa:3',
}

export const newGrant = (nowMs: number, changes: Partial<NewGrant> = {}): NewGrant => ({
  grantId: newId(),
  record: grantRecord,
  codeDigest: newId(),
  codeProof: newId(),
  codeExpiresAtMs: nowMs + 60_000,
  untilMs: nowMs + 600_000,
  ...changes,
})

export const redemptionOf = (grant: NewGrant, nowMs: number, changes: Partial<Redemption> = {}): Redemption => ({
  grantId: grant.grantId,
  codeDigest: grant.codeDigest,
  codeProofs: [newId(), grant.codeProof],
  nowMs,
  refreshDigest: `first ${grant.grantId}`,
  untilMs: nowMs + 600_000,
  ...changes,
})

export const refreshOf = (grant: NewGrant, nowMs: number, changes: Partial<RefreshAttempt> = {}): RefreshAttempt => ({
  grantId: grant.grantId,
  client_id: grant.record.client_id,
  digest: `first ${grant.grantId}`,
  nowMs,
  reuseWindowMs: 10_000,
  bindings: [],
  untilMs: nowMs + 600_000,
  ...changes,
})

export const newToken = (grantId: string): AccessTokenRecord => ({
  jti: `${grantId}.${newId()}`,
  client_id: 'demo',
  sub: 'f3a1',
  scope: 'accounts:read',
  aud: ['https://api.example/accounts'],
  iat: 1_790_000_000,
  exp: 1_790_000_600,
})

/** The facts that such a token carries, known before its grant is read. */
export const newDraft = (grantId: string, nowMs: number, changes: Partial<TokenDraft> = {}): TokenDraft => ({
  jti: `${grantId}.${newId()}`,
  client_id: 'demo',
  iat: Math.floor(nowMs / 1000),
  exp: Math.floor(nowMs / 1000) + 600,
  resources: [],
  issuer: 'https://auth.example',
  ...changes,
})

export const newInteraction = (): InteractionRecord => ({
  client_id: 'demo',
  redirect_uri: 'http://127.0.0.1:3000/callback',
  redirectUriSent: true,
  state: 'ä state',
  scope: 'accounts:read',
  resource: [],
  browserDigest: newId(),
  stage: 'login',
  failedLogins: 0,
  expiresAtMs: 1_790_000_900_000,
})

export const newPushedRequest = (): PushedRequest => ({
  client_id: 'demo',
  parameters: { state: 'ä state', resource: ['https://api.example/accounts', newId()] },
})

export const newKey = (alg: string, createdAtMs: number): KeyRecord => ({
  kid: newId(),
  alg,
  createdAtMs,
  jwk: { kty: 'EC', crv: 'P-256', d: newId() },
})

/** A grant whose code has just been redeemed. */
export const redeemedGrant = async (
  store: Store,
  nowMs: number,
  changes: Partial<Redemption> = {},
): Promise<NewGrant> => {
  const grant = newGrant(nowMs)
  await store.grants.create(grant)
  await store.grants.redeem(redemptionOf(grant, nowMs, changes))
  return grant
}
