import type {
  FoundToken,
  GrantRecord,
  NewGrant,
  Redemption,
  RedemptionOutcome,
  RefreshAttempt,
  RefreshOutcome,
} from './ports.ts'

/**
 * What a redemption and a refresh do to a grant: pure, for the adapters that decide in the process (`memory`, `sqlite`).
 * The Redis adapter says the same in Lua (`redis/grant-scripts.ts`); the conformance suite holds both to it. Expired and
 * revoked grants never get here.
 */

/** Failed redemptions that burn a code: the rightful client survives a stranger's slip, a guesser gets no fourth try. */
export const failuresThatBurn = 3

/** A grant as a store keeps it. */
export interface GrantState {
  readonly record: GrantRecord
  readonly codeDigest: string
  readonly codeProof: string
  readonly codeExpiresAtMs: number
  readonly spent: boolean
  readonly failures: number
  readonly refreshDigest?: string
  /** What the refresh token is bound to; left out: to nothing. */
  readonly binding?: string
  /** The refresh token before the current one. */
  readonly previousDigest?: string
  /** When the current refresh token was made: at the redemption, then at each rotation. */
  readonly refreshedAtMs: number
  readonly generation: number
  readonly untilMs: number
}

/** An outcome, and the state to store with it; without `next` nothing changes. */
export interface Ruling<Outcome> {
  readonly outcome: Outcome
  readonly next?: GrantState
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

/** RFC 6749 sections 4.1.2 and 10.5. A replay is told before expiry, so that a late one is detected too. */
export const ruleRedemption = (state: GrantState, redemption: Redemption): Ruling<RedemptionOutcome> => {
  if (state.codeDigest !== redemption.codeDigest) return { outcome: refused }
  // A wrong proof is no replay: else anybody who finds a spent code in a log could end a stranger's session with it.
  if (!redemption.codeProofs.includes(state.codeProof)) return refuseAndCount(state)
  if (state.spent) return { outcome: { kind: 'replayed', record: state.record } }
  if (state.failures >= failuresThatBurn) return { outcome: refused }
  if (state.codeExpiresAtMs <= redemption.nowMs) return { outcome: refused }
  return {
    outcome: { kind: 'redeemed', record: state.record },
    next: {
      ...state,
      spent: true,
      ...(redemption.refreshDigest !== undefined && { refreshDigest: redemption.refreshDigest }),
      ...(redemption.binding !== undefined && { binding: redemption.binding }),
      refreshedAtMs: redemption.nowMs,
      untilMs: redemption.untilMs,
    },
  }
}

const refuseAndCount = (state: GrantState): Ruling<RedemptionOutcome> =>
  state.spent ? { outcome: refused } : { outcome: refused, next: { ...state, failures: state.failures + 1 } }

/** RFC 9700 section 4.14.2: rotation, with a window in which a client that lost the answer may ask again. */
export const ruleRefresh = (state: GrantState, attempt: RefreshAttempt): Ruling<RefreshOutcome> => {
  const { refreshDigest, record, generation } = state
  if (refreshDigest === undefined || record.client_id !== attempt.client_id) return { outcome: refused }
  if (state.binding !== undefined && !attempt.bindings.includes(state.binding)) return { outcome: refused }
  if (refreshDigest === attempt.digest) return exceeds(record, attempt) ? { outcome: exceeded } : rotate(state, attempt)
  if (state.previousDigest === attempt.digest && attempt.nowMs < state.refreshedAtMs + attempt.reuseWindowMs)
    return { outcome: exceeds(record, attempt) ? exceeded : { kind: 'valid', record } }
  return { outcome: { kind: 'superseded', generation, currentDigest: refreshDigest } }
}

const exceeded = { kind: 'exceeds' } as const

const exceeds = (record: GrantRecord, { scopes }: RefreshAttempt): boolean => {
  const agreed = record.scope.split(' ')
  return scopes?.some(scope => !agreed.includes(scope)) ?? false
}

const rotate = (state: GrantState, attempt: RefreshAttempt): Ruling<RefreshOutcome> => {
  const outcome = { kind: 'valid', record: state.record } as const
  if (attempt.successorDigest === undefined) return { outcome }
  return {
    outcome,
    next: {
      ...state,
      refreshDigest: attempt.successorDigest,
      previousDigest: attempt.digest,
      refreshedAtMs: attempt.nowMs,
      generation: state.generation + 1,
      untilMs: attempt.untilMs,
    },
  }
}

/** A grant found by its current refresh token. */
export const toFoundRefresh = ({ record, binding, refreshedAtMs, untilMs }: GrantState): FoundToken => ({
  kind: 'refresh',
  record,
  ...(binding !== undefined && { binding }),
  createdAtMs: refreshedAtMs,
  untilMs,
})
