export interface InteractionStore {
  /**
   * @param limit how many interactions at stage `login` there may be: the oldest beyond it are removed. Left out: any number.
   * Processes that create some at the same time may leave a few more or less than the limit.
   * @returns how many were removed
   */
  create(id: string, record: InteractionRecord, untilMs: number, limit?: number): Promise<number>
  find(id: string): Promise<{ readonly record: InteractionRecord; readonly version: number } | undefined>
  /** Replaces the record if it still has `version`, atomically; its lifetime stays. False: somebody was faster, or it is gone. */
  replace(id: string, version: number, record: InteractionRecord): Promise<boolean>
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
  /** Left out by 0.1.0. */
  readonly beganAtSec?: number
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
