export interface InteractionStore {
  /**
   * @param limit how many interactions at stage `login` may exist: the oldest above it are removed. Left out: no limit.
   * If several processes create interactions at the same time, a few more or less than the limit may remain.
   * @returns how many were removed
   */
  create(id: string, record: InteractionRecord, untilMs: number, limit?: number): Promise<number>
  find(id: string): Promise<{ readonly record: InteractionRecord; readonly version: number } | undefined>
  /**
   * Replaces the record if it still has `version`, atomically; its lifetime does not change. Resolves to false if
   * another process replaced it first, or if it does not exist.
   */
  replace(id: string, version: number, record: InteractionRecord): Promise<boolean>
}

/** The questions of an authorization request to the user, and where the response is sent. */
export interface InteractionRecord {
  readonly client_id: string
  readonly redirect_uri: string
  /** Whether redirect_uri was sent or implied by the client's only registration (RFC 6749 section 4.1.3). */
  readonly redirectUriSent: boolean
  readonly state?: string
  readonly scope: string
  readonly resource: readonly string[]
  readonly code_challenge?: string
  /** Thumbprint of the key that the code will be bound to (RFC 9449 section 10). */
  readonly dpop_jkt?: string
  /** The pushed request that the interaction began with; it ends when the interaction completes. */
  readonly pushedId?: string
  /** Requested authentication contexts, space-separated (OpenID Connect Core section 3.1.2.1). */
  readonly acr_values?: string
  /** Requested languages, space-separated (RFC 5646 tags). */
  readonly ui_locales?: string
  readonly login_hint?: string
  /** Keyed digest of the cookie that ties the browser to this interaction. */
  readonly browserDigest: string
  readonly stage: 'login' | 'consent' | 'accepted' | 'done'
  readonly failedLogins: number
  /** Version 0.1.0 did not write it. */
  readonly beganAtSec?: number
  /** When the record expires, for pages and APIs that report it. */
  readonly expiresAtMs: number
  readonly sub?: string
  readonly username?: string
  readonly authTimeSec?: number
  readonly acr?: string
  /**
   * The result that the operator's own login sent to the private listener, and the keyed digest of its resume token.
   */
  readonly handoff?: HandoffAnswer
  /**
   * Set at stage `done`: the URL that the browser was redirected to and is redirected to again. It contains a code, so
   * it is encrypted under the browser's cookie.
   */
  readonly redirect?: string
}

/** The decision of the operator's own login. A repeated identical call (same `callDigest`) gets the same answer. */
export interface HandoffAnswer {
  readonly callDigest: string
  /** The resume URL's one-time token is derived from this salt, so the store holds no token. */
  readonly resumeSalt: string
  readonly rejection?: { readonly error: string; readonly description: string }
}
