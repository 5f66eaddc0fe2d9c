import { clockSpreadMs } from '../ports/clock-spread.ts'
import type { GrantRecord } from '../ports/grant-record.ts'
import type { GrantState } from '../ports/grant-state.ts'
import type {
  CurrentRefresh,
  NewGrant,
  Redemption,
  RedemptionOutcome,
  RefreshAttempt,
  RefreshOutcome,
  ScopeExceeded,
} from '../ports/grants.ts'
import { completeToken, type TokenToStore } from '../ports/token-draft.ts'
import type { AccessTokenRecord, FoundToken } from '../ports/tokens.ts'

/**
 * How a redemption and a refresh change a grant: pure functions, for the adapters that decide in the process (`memory`,
 * `sqlite`). The Redis adapter has the same rules in Lua (`redis/grant-scripts.ts`); the conformance suite checks both.
 * Callers pass no expired or revoked grants.
 */

/**
 * Number of failed redemptions that invalidates a code. The legitimate client survives a mistake of another client, but
 * an attacker cannot guess a fourth time.
 */
export const maxFailedRedemptions = 3

/**
 * Used as the lifetime of access tokens of a grant that an older version of Sidegate stored, which did not record it.
 */
export const unrecordedTokenSec = 86_400

/** When the last access token of a grant has expired, for every process; 0 if none was issued. */
export const tokensEndAtMs = (
  { spent, longestTokenSec = unrecordedTokenSec }: Pick<GrantState, 'spent' | 'longestTokenSec'>,
  nowMs: number,
): number => (spent && longestTokenSec > 0 ? nowMs + longestTokenSec * 1000 + clockSpreadMs : 0)

/**
 * An outcome and the state to store with it. Without `next` the grant does not change, without `token` no token is
 * stored.
 */
export interface Decision<Outcome> {
  readonly outcome: Outcome
  readonly next?: GrantState
  readonly token?: { readonly digest: string; readonly record: AccessTokenRecord }
}

const refused = { kind: 'refused' } as const

export const newGrantState = (grant: NewGrant): GrantState => ({
  record: grant.record,
  codeDigest: grant.codeDigest,
  codeProof: grant.codeProof,
  codeExpiresAtMs: grant.codeExpiresAtMs,
  spent: false,
  failures: 0,
  refreshedAtMs: 0,
  generation: 0,
  untilMs: grant.untilMs,
})

/**
 * RFC 6749 sections 4.1.2 and 10.5. The replay check precedes the expiry check, so that a late replay is detected too.
 */
export const decideRedemption = (state: GrantState, redemption: Redemption): Decision<RedemptionOutcome> => {
  if (state.codeDigest !== redemption.codeDigest) return { outcome: refused }
  // A wrong proof is not a replay. Otherwise an attacker that finds a spent code in a log could end another user's
  // session with it.
  if (!redemption.codeProofs.includes(state.codeProof)) return refuseAndCount(state)
  if (state.spent) return { outcome: { kind: 'replayed', record: state.record } }
  if (state.failures >= maxFailedRedemptions) return { outcome: refused }
  if (state.codeExpiresAtMs <= redemption.nowMs) return { outcome: refused }
  const excess = findExcess(state.record, redemption)
  if (excess) return { outcome: excess }
  const agreed = { record: state.record, untilMs: redemption.untilMs }
  return {
    outcome: { kind: 'redeemed', ...agreed },
    ...keptToken(agreed, redemption.token),
    next: {
      ...recordToken(state, redemption.token),
      spent: true,
      ...(redemption.refreshDigest !== undefined && { refreshDigest: redemption.refreshDigest }),
      ...(redemption.binding !== undefined && { binding: redemption.binding }),
      refreshedAtMs: redemption.nowMs,
      untilMs: redemption.untilMs,
    },
  }
}

const refuseAndCount = (state: GrantState): Decision<RedemptionOutcome> =>
  state.spent ? { outcome: refused } : { outcome: refused, next: { ...state, failures: state.failures + 1 } }

/** RFC 9700 section 4.14.2: rotation, with a window in which a client that lost the response may repeat the request. */
export const decideRefresh = (state: GrantState, attempt: RefreshAttempt): Decision<RefreshOutcome> => {
  const { refreshDigest, record, generation } = state
  if (refreshDigest === undefined || record.client_id !== attempt.client_id) return { outcome: refused }
  if (state.binding !== undefined && !attempt.bindings.includes(state.binding)) return { outcome: refused }
  const isCurrent = refreshDigest === attempt.digest
  if (!isCurrent && !isWithinWindow(state, attempt))
    return { outcome: { kind: 'superseded', generation, currentDigest: refreshDigest } }
  const excess = findExcess(record, attempt)
  if (excess) return { outcome: excess }
  const next = recordToken(isCurrent ? rotated(state, attempt) : state, attempt.token)
  const agreed = { record, untilMs: next.untilMs }
  return { outcome: { kind: 'valid', ...agreed }, ...keptToken(agreed, attempt.token), ...(next !== state && { next }) }
}

const isWithinWindow = ({ previousDigest, refreshedAtMs }: GrantState, attempt: RefreshAttempt): boolean =>
  previousDigest === attempt.digest && attempt.nowMs < refreshedAtMs + attempt.reuseWindowMs

const rotated = (state: GrantState, attempt: RefreshAttempt): GrantState => {
  if (attempt.successorDigest === undefined) return state
  return {
    ...state,
    refreshDigest: attempt.successorDigest,
    previousDigest: attempt.digest,
    refreshedAtMs: attempt.nowMs,
    generation: state.generation + 1,
    untilMs: attempt.untilMs,
  }
}

/**
 * The grant with the lifetime of this token. If a longer one is recorded, the same object is returned and nothing is
 * written.
 */
const recordToken = (state: GrantState, token: TokenToStore | undefined): GrantState => {
  const knownSec = state.longestTokenSec ?? (state.spent ? unrecordedTokenSec : 0)
  const longestTokenSec = Math.max(knownSec, token ? token.draft.exp - token.draft.iat : 0)
  return longestTokenSec === state.longestTokenSec ? state : { ...state, longestTokenSec }
}

/** The part of a request that was not granted. If no resource was granted, any resource is as good as the issuer. */
const findExcess = (
  { scope, resource }: GrantRecord,
  { scopes = [], token }: Pick<RefreshAttempt, 'scopes' | 'token'>,
): ScopeExceeded | undefined => {
  const agreed = scope.split(' ')
  if (!scopes.every(name => agreed.includes(name))) return { kind: 'exceeds', by: 'scope' }
  const isAgreed = (asked: string): boolean => resource.length === 0 || resource.includes(asked)
  return token?.draft.resources.every(isAgreed) === false ? { kind: 'exceeds', by: 'resource' } : undefined
}

const keptToken = (
  { record, untilMs }: Pick<GrantState, 'record' | 'untilMs'>,
  wanted: TokenToStore | undefined,
): Pick<Decision<unknown>, 'token'> =>
  wanted?.digest === undefined
    ? {}
    : { token: { digest: wanted.digest, record: completeToken(wanted.draft, { ...record, untilMs }) } }

/** The state of the refresh tokens of a client's grant. */
export const toCurrentRefresh = (
  { record, refreshDigest, generation }: GrantState,
  client_id: string,
): CurrentRefresh | undefined =>
  refreshDigest === undefined || record.client_id !== client_id
    ? undefined
    : { generation, currentDigest: refreshDigest }

/** A grant found by its current refresh token. */
export const toFoundRefresh = ({ record, binding, refreshedAtMs, untilMs }: GrantState): FoundToken => ({
  kind: 'refresh',
  record,
  ...(binding !== undefined && { binding }),
  createdAtMs: refreshedAtMs,
  untilMs,
})
