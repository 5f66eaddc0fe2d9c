import type { Clock } from '../../clock.ts'
import { randomText } from '../../random-text.ts'
import type { Store } from '../../stores/ports/store.ts'
import type { Agreed, TokenToStore } from '../../stores/ports/token-draft.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { ClientRegistry } from '../clients/client-registry.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { Form } from '../forms/form.ts'
import type { MaybePromise } from '../functional.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { OAuthOptions } from '../options.ts'
import type { GrantType } from '../protocol.ts'
import type { StoreQuery } from '../replay-protection.ts'
import type { RevocationFeed } from '../tokens/revocation-feed.ts'
import type { SenderConstraint } from './sender-constraint.ts'

/**
 * One grant type of the token endpoint, which has checked the client, its registration and the scope before it calls
 * `redeem`.
 */
export interface Grant {
  readonly type: GrantType
  /** Whether a public client may use it (RFC 6749 section 4.4 forbids that for client_credentials). */
  readonly servesPublicClients: boolean
  /** Whether it has a `scope` parameter. If not, `scope` is ignored like any unknown parameter. */
  readonly takesScope: boolean
  /** @throws OAuthError invalid_request, invalid_grant or invalid_scope; StoreUnavailableError */
  redeem(request: GrantRequest): MaybePromise<Granted>
}

export interface GrantRequest {
  readonly form: Form
  readonly client: ClientRegistration
  /** The requested scopes, a subset of the client's registered scopes; undefined if there is no `scope` parameter. */
  readonly scope: readonly string[] | undefined
  readonly senderConstraint: SenderConstraint
  readonly beginToken: BeginToken
  /** Runs the query that uses the grant. Queries that follow from its outcome come later. */
  readonly query: StoreQuery
}

/** The access token of one token request: the data for the store, and the text once the record is known. */
export interface NewToken extends TokenToStore {
  toText(record: AccessTokenRecord): string
}

/**
 * Begins the access token of a request.
 * @param jti names this token among the tokens of the grant
 * @param scopes the scopes it may have, a subset of the scopes that were agreed to; left out: all of these
 */
export type BeginToken = (grantId: string, jti: string, scopes?: readonly string[]) => NewToken

/** The access token, which the store holds if it has to; the agreement; and the refresh token that belongs to it. */
export interface Granted {
  readonly token: NewToken
  readonly agreed: Agreed
  /** Present if the client gets its first refresh token, or has to replace the one that it has. */
  readonly refreshToken?: string
}

/** The dependencies of the grants that redeem a code or a refresh token. */
export interface RedemptionDeps {
  readonly options: Pick<OAuthOptions, 'profile' | 'accessToken' | 'refreshToken' | 'login' | 'users'>
  readonly store: Pick<Store, 'grants'>
  readonly keys: Pick<KeyRing, 'digest'>
  readonly clients: Pick<ClientRegistry, 'has'>
  readonly revocations: Pick<RevocationFeed, 'queryWithNotBefore' | 'isCutOff' | 'revoke'>
  readonly clock: Clock
}

/** A new `jti` for one of several access tokens of a grant. */
export const newFamilyJti = (grantId: string): string => `${grantId}.${randomText(16)}`
