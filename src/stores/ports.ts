/**
 * What Sidegate asks of a store. Each port is small and speaks of one record. Every record has a lifetime: the store
 * forgets it by itself, no janitor is needed for correctness. Instants are `…AtMs` (milliseconds since 1970, by the
 * caller's clock); a store never hands out a record whose `untilMs` has passed.
 *
 * All state of one authorization (its code, refresh token, opaque tokens, revocations) is named by one random grant
 * id, so that Redis keeps it in one slot and each operation below is one atomic step and one round trip.
 *
 * A store that cannot answer throws `StoreUnavailableError`, and nothing else; "not there" is `undefined`.
 */

/** The store did not answer, or refused to write. Callers answer 503 and promise nothing. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
  readonly store: StoreName
  constructor(store: StoreName, cause: unknown) {
    super(`the ${store} store is unavailable`, { cause })
    this.store = store
  }
}

export type StoreName = 'memory' | 'sqlite' | 'redis'

export interface Store {
  readonly name: StoreName
  readonly keys: KeyStore
  readonly grants: GrantStore
  readonly tokens: TokenStore
  readonly revocations: RevocationStore
  readonly interactions: InteractionStore
  readonly replays: ReplayStore
  readonly pushed: PushedRequestStore
  /** Resolves when the store answers; throws StoreUnavailableError otherwise. For readiness and its metric. */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * A key as JWK members (RFC 7517): a private signing key, or the symmetric digest key (`alg` HS256). The instants say
 * how it takes part in a rotation; a key without them is used from the moment it was made.
 */
export interface KeyRecord {
  readonly kid: string
  readonly alg: string
  readonly createdAtMs: number
  /** Signs from this instant on; published before, so that every cache of the key set has it by then. */
  readonly activeAtMs?: number
  readonly jwk: Readonly<Record<string, unknown>>
}

export interface KeyStore {
  /** All keys, oldest first. Reading renews their lifetime to `untilMs`, so keys in use stay and unused ones go. */
  load(untilMs: number): Promise<readonly KeyRecord[]>
  /**
   * Stores `record` unless the newest key of its `alg` is another than `after` (undefined: unless there is any),
   * atomically: of many processes that rotate at once one wins. Returns all keys as they are afterwards, oldest first.
   */
  create(record: KeyRecord, after: string | undefined, untilMs: number): Promise<readonly KeyRecord[]>
  /** Forgets a key. Absent: nothing happens. */
  remove(kid: string): Promise<void>
}

/**
 * What a token is bound to (RFC 7800 section 3.1): a DPoP key's thumbprint (RFC 9449 section 6) or a certificate's
 * (RFC 8705 section 3.1). With both members, to both at once.
 */
export type Confirmation = KeyConfirmation | CertificateConfirmation | (KeyConfirmation & CertificateConfirmation)

export interface KeyConfirmation {
  readonly jkt: string
}

export interface CertificateConfirmation {
  readonly 'x5t#S256': string
}

/** What a person (or, for tokens without one, the client itself) agreed to. */
export interface GrantRecord {
  readonly client_id: string
  readonly sub: string
  readonly username?: string
  /** Space-separated, as RFC 6749 section 3.3 writes it. */
  readonly scope: string
  /** RFC 8707 resources; empty means the issuer. */
  readonly resource: readonly string[]
  readonly authTimeSec: number
  /** The authentication context that the operator's own login reported (OpenID Connect Core section 2). */
  readonly acr?: string
}

export interface NewGrant {
  readonly grantId: string
  readonly record: GrantRecord
  /** Keyed digest of the authorization code. */
  readonly codeDigest: string
  /** Digest over client_id, redirect_uri, code_challenge and dpop_jkt: what a redemption must match. */
  readonly codeProof: string
  /** After this instant the code is `refused`. The grant itself is kept until `untilMs`, to detect late replays. */
  readonly codeExpiresAtMs: number
  readonly untilMs: number
}

export interface Redemption {
  readonly grantId: string
  readonly codeDigest: string
  /** The proofs that would be right, given what the caller presented; one of them must equal the stored one. */
  readonly codeProofs: readonly string[]
  readonly nowMs: number
  /** Set as the grant's refresh token, generation 0, if the redemption succeeds; left out: no refresh token. */
  readonly refreshDigest?: string
  /** What the refresh token is bound to from now on: text of a Confirmation. Left out: to nothing. */
  readonly binding?: string
  /** How long the grant is kept once redeemed: the life of the longest-lived token made from it. */
  readonly untilMs: number
  /** The access token that goes with it; left out: none. */
  readonly token?: WantedToken
}

/** The access token that a redemption or a refresh is made for. More than was agreed to is `exceeds`. */
export interface WantedToken {
  readonly draft: TokenDraft
  /**
   * Keeps the token in the same step as the grant, under this keyed digest and until its `exp`, for `TokenStore` to find.
   * It says what `completeToken` says. Left out: it is not kept, for it speaks for itself.
   */
  readonly digest?: string
}

export type RedemptionOutcome =
  /** First use; the code is now spent. Of any number of callers exactly one sees this. */
  | { readonly kind: 'redeemed'; readonly record: GrantRecord; readonly untilMs: number }
  /** The right code, spent before: it leaked. The caller revokes the grant. */
  | { readonly kind: 'replayed'; readonly record: GrantRecord }
  | Exceeding
  /** Unknown, expired, revoked or burnt code, or no proof matched (which is counted: the third failure burns it). */
  | { readonly kind: 'refused' }

/** More is asked for than was agreed to. Nothing changed: whoever asks for too much may ask again for less. */
export interface Exceeding {
  readonly kind: 'exceeds'
  readonly by: 'scope' | 'resource'
}

export interface RefreshAttempt {
  readonly grantId: string
  readonly client_id: string
  /** Keyed digest of the presented refresh token. */
  readonly digest: string
  /** Present: rotate to this digest. Absent: the token is kept. */
  readonly successorDigest?: string
  /** What the caller proved to hold; a token bound to another is `refused`. A token bound to nothing takes any. */
  readonly bindings: readonly string[]
  /** Scopes that are asked for. Left out: all that was agreed to. More than the grant has is `exceeds`. */
  readonly scopes?: readonly string[]
  readonly nowMs: number
  /** How long after a rotation the previous token still yields the same successor. */
  readonly reuseWindowMs: number
  /** New lifetime of the grant if it rotates. */
  readonly untilMs: number
  /** The access token that goes with it; left out: none. */
  readonly token?: WantedToken
}

export type RefreshOutcome =
  /** The current token; or, within the window, the one before it (then nothing changes: the successor is the same). */
  | { readonly kind: 'valid'; readonly record: GrantRecord; readonly untilMs: number }
  /**
   * Not the current one and outside the window. `generation` counts rotations, `currentDigest` names the current
   * token; with both the caller decides whether the presented one is a genuine ancestor, and then revokes.
   */
  | ({ readonly kind: 'superseded' } & CurrentRefresh)
  | Exceeding
  /** No such grant for that client, no refresh token, expired, revoked or bound to another key. Nothing changed. */
  | { readonly kind: 'refused' }

/** Where the refresh tokens of a grant stand: how often they rotated, and the keyed digest of the current one. */
export interface CurrentRefresh {
  readonly generation: number
  readonly currentDigest: string
}

export interface GrantStore {
  create(grant: NewGrant): Promise<void>
  /** Redeems a code, atomically. See RedemptionOutcome. */
  redeem(redemption: Redemption): Promise<RedemptionOutcome>
  /** Uses a refresh token, atomically. See RefreshOutcome. Rotation counts `generation` up by one. */
  refresh(attempt: RefreshAttempt): Promise<RefreshOutcome>
  /**
   * Whatever the refresh token is bound to: who wants a grant ended need not hold its key. Undefined: no such grant of this
   * client, no refresh token, expired or revoked.
   */
  findCurrentRefresh(grantId: string, client_id: string): Promise<CurrentRefresh | undefined>
  /** Forgets a grant that nobody will ever redeem (the loser of a double submit). Absent: nothing happens. */
  remove(grantId: string): Promise<void>
}

/** An access token as introspection shows it; for JWTs the same members stand in the token itself. */
export interface AccessTokenRecord {
  readonly jti: string
  readonly client_id: string
  readonly sub: string
  readonly username?: string
  readonly scope: string
  readonly aud: string | readonly string[]
  readonly iat: number
  readonly exp: number
  readonly cnf?: Confirmation
  readonly acr?: string
  readonly auth_time?: number
}

/** An access token as far as it is known before its grant is read. */
export interface TokenDraft {
  readonly jti: string
  readonly client_id: string
  readonly iat: number
  readonly exp: number
  readonly cnf?: Confirmation
  /** Scopes it may have, of those agreed to. Left out: all of these. */
  readonly scopes?: readonly string[]
  /** Resources that it is asked for (without spaces, as URIs are). Empty: for all that were agreed to. */
  readonly resources: readonly string[]
  /** What it is for where neither the request nor the grant names a resource. */
  readonly issuer: string
}

/** What was agreed to, as far as an access token shows it. */
export type Agreed = Pick<GrantRecord, 'sub' | 'username' | 'scope' | 'resource' | 'acr'> &
  Partial<Pick<GrantRecord, 'authTimeSec'>> & {
    /** When it ends, and every token made from it with it. Left out: it is not kept, so it has no end. */
    readonly untilMs?: number
  }

/** The token that a draft becomes. Store and caller say it by this one function, so that they never differ. */
export const completeToken = (draft: TokenDraft, agreed: Agreed): AccessTokenRecord => {
  const { jti, client_id, iat, cnf, scopes } = draft
  const { sub, username, scope, acr, authTimeSec, untilMs = Number.POSITIVE_INFINITY } = agreed
  return {
    jti,
    client_id,
    sub,
    ...(username !== undefined && { username }),
    scope: scopes
      ? scope
          .split(' ')
          .filter(name => scopes.includes(name))
          .join(' ')
      : scope,
    aud: audienceOf(draft, agreed),
    iat,
    exp: Math.min(draft.exp, Math.floor(untilMs / 1000)),
    ...(cnf && { cnf }),
    ...(acr !== undefined && { acr }),
    ...(authTimeSec !== undefined && { auth_time: authTimeSec }),
  }
}

/** RFC 8707 section 2: one resource stands as text, several as a list. */
const audienceOf = ({ resources, issuer }: TokenDraft, { resource }: Agreed): string | readonly string[] => {
  const audience = resources.length > 0 ? [...new Set(resources)] : resource
  return audience.length > 1 ? audience : (audience[0] ?? issuer)
}

/** What a keyed digest stands for: an opaque access token, or the current refresh token of a grant. */
export type FoundToken =
  | { readonly kind: 'access'; readonly record: AccessTokenRecord }
  | {
      readonly kind: 'refresh'
      readonly record: GrantRecord
      readonly binding?: string
      readonly createdAtMs: number
      readonly untilMs: number
    }

/** Opaque access tokens, by the keyed digest of the token. */
export interface TokenStore {
  /** For a token whose grant is kept nowhere else. */
  save(grantId: string, digest: string, record: AccessTokenRecord, untilMs: number): Promise<void>
  /** The record, unless it expired, was removed, or its grant is revoked. */
  find(grantId: string, digest: string): Promise<AccessTokenRecord | undefined>
  /** The access token or the current refresh token with this digest, in one round trip; same conditions as `find`. */
  findAny(grantId: string, digest: string): Promise<FoundToken | undefined>
  /** After it resolves nobody finds the token. Absent: nothing happens. */
  remove(grantId: string, digest: string): Promise<void>
}

/** One revocation in the feed: a grant id (the whole family) or a `jti` (`<grant id>.<n>`, one access token). */
export interface Revocation {
  readonly id: string
  readonly untilMs: number
}

export interface RevocationStore {
  /**
   * Revokes a grant id (all its access tokens and its refresh token) or one jti. The grant itself is forgotten in the
   * same step, so that nothing of it comes back when the revocation has expired. When it resolves, `isRevoked`,
   * `tokens.find` and `grants.refresh` of every process say so; `since` shows it to pollers. Repeating it is harmless.
   */
  revoke(id: string, untilMs: number): Promise<void>
  /** Whether the jti itself, or the grant id before its first dot, is revoked. */
  isRevoked(jti: string): Promise<boolean>
  /**
   * The feed for gateways that check JWTs locally: what was revoked since `cursor` (undefined: everything still
   * alive) and the next cursor. An entry may be shown twice, never missed.
   */
  since(cursor: string | undefined): Promise<{ readonly revocations: readonly Revocation[]; readonly cursor: string }>
}

/** Things that may be used once: the `jti` of client assertions, DPoP proofs, request objects and internal calls. */
export interface ReplayStore {
  /**
   * Remembers each id until its instant, and says of each whether it is new; of any number of callers with one id exactly
   * one is told so. All in one round trip. Those that are new are spent, whatever the others are.
   */
  spend(ids: readonly { readonly id: string; readonly untilMs: number }[]): Promise<readonly boolean[]>
}

/** A pushed authorization request (RFC 9126): its parameters, checked when they came. JSON-serialisable. */
export interface PushedRequest {
  readonly client_id: string
  readonly parameters: Readonly<Record<string, string | readonly string[]>>
}

export interface PushedRequestStore {
  create(id: string, request: PushedRequest, untilMs: number): Promise<void>
  /** The request, unless it has expired or an interaction has completed it. */
  find(id: string): Promise<PushedRequest | undefined>
  /**
   * Ends the request on behalf of one interaction, atomically, and remembers which until `untilMs`: true for the first
   * interaction that asks, however often; false for every other (RFC 9126 section 7.3). Works after the request expired:
   * whoever began in time may take their time.
   */
  complete(id: string, interactionId: string, untilMs: number): Promise<boolean>
}

/** What an authorization request asks a person for, and where its answer goes. */
export interface InteractionRecord {
  readonly client_id: string
  readonly redirect_uri: string
  /** Whether redirect_uri was sent or implied by the client's only registration (RFC 6749 section 4.1.3). */
  readonly redirectUriSent: boolean
  readonly state?: string
  readonly scope: string
  readonly resource: readonly string[]
  readonly code_challenge?: string
  /** Thumbprint of the key that the code is to be bound to (RFC 9449 section 10). */
  readonly dpop_jkt?: string
  /** The pushed request that this began with; ended when this completes. */
  readonly pushedId?: string
  /** Authentication contexts asked for, space-separated (OpenID Connect Core section 3.1.2.1). */
  readonly acr_values?: string
  /** Languages asked for, space-separated (RFC 5646 tags). */
  readonly ui_locales?: string
  readonly login_hint?: string
  /** Keyed digest of the cookie that ties the browser to this interaction. */
  readonly browserDigest: string
  readonly stage: 'login' | 'consent' | 'accepted' | 'done'
  readonly failedLogins: number
  /** The end of its lifetime, for those who have to be told. */
  readonly expiresAtMs: number
  readonly sub?: string
  readonly username?: string
  readonly authTimeSec?: number
  readonly acr?: string
  /** What the operator's own login answered over the private listener, and the keyed digest of its resume token. */
  readonly handoff?: HandoffAnswer
  /** Set at stage `done`: where the browser went, and goes again; sealed under its cookie, for it holds a code. */
  readonly redirect?: string
}

/** The decision of the operator's own login. A repeated identical call (same `callDigest`) gets the same answer. */
export interface HandoffAnswer {
  readonly callDigest: string
  /** The resume URL's one-time token is derived under this salt; the store has no token. */
  readonly resumeSalt: string
  readonly rejection?: { readonly error: string; readonly description: string }
}

export interface InteractionStore {
  create(id: string, record: InteractionRecord, untilMs: number): Promise<void>
  find(id: string): Promise<{ readonly record: InteractionRecord; readonly version: number } | undefined>
  /** Replaces the record if it still has `version`, atomically; its lifetime stays. False: somebody was faster, or it is gone. */
  replace(id: string, version: number, record: InteractionRecord): Promise<boolean>
}

// --- plan limits -------------------------------------------------------------------------------------------------

/**
 * How a counter counts. `strict`: never more than `limit` in any sliding window. `smooth`: `limit` per window in the long
 * run and `burst` at once (GCRA), at most `limit + burst - 1` in a window. `calendar`: `limit` between two turns of the
 * window, which are the same for everybody: whole multiples of its length since 1970, UTC.
 */
export type Algorithm = 'strict' | 'smooth' | 'calendar'

/** One limit of a charge, with a counter of its own. */
export interface Rule {
  /** Names the counter among those of the charge's key. */
  readonly counter: string
  readonly algorithm: Algorithm
  /** At least 1. */
  readonly limit: number
  readonly windowMs: number
  /** How many `smooth` lets in at once, at least 1; the others do not look at it. */
  readonly burst: number
  /** `soft`: counted, and said, and never a reason to refuse. */
  readonly mode: 'hard' | 'soft'
}

/** What one request costs: a place under each rule, or none under any. */
export interface Charge {
  /** Names whose counters they are: the plan and the caller. Not empty. Never shown to anybody. */
  readonly key: string
  /** At least one. Whoever charges by the same rules hands over the same array: what is remembered goes by it. */
  readonly rules: readonly Rule[]
  /** What holds while the store does not answer. */
  readonly whenStoreFails: 'local' | 'open' | 'closed'
}

/** Where one counter stands after a decision. */
export interface RuleState {
  /** How many more it would let in now. */
  readonly remaining: number
  /**
   * Milliseconds, to the microsecond. With nothing remaining: until it lets one in. Else until all is as at first, or the
   * window.
   */
  readonly waitMs: number
}

export interface Verdict {
  /** Whether every hard rule had room. If not, no rule has counted the request. */
  readonly allowed: boolean
  /** Allowed, though a soft rule had no room; then no soft rule has counted it. */
  readonly shadowDenied: boolean
  /** Of each rule of the charge, in its order. */
  readonly rules: readonly RuleState[]
  /** A request sent after this many milliseconds gets in, if no other came first. 0: every hard rule has room now. */
  readonly waitMs: number
  /** Who decided: the shared count, this process's share of it, or the plan's answer for a failed store. */
  readonly source: 'store' | 'local' | 'open' | 'closed'
}

/** Keeps plan limits over every process that shares it. Never throws: a failed store is a Verdict too. */
export interface Limiter {
  /** Decides and counts one request. At most one store round trip; a synchronous Verdict where none is needed. */
  charge(charge: Charge): Verdict | Promise<Verdict>
  close(): Promise<void>
}
