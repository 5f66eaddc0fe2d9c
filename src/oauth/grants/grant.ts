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

/** One grant type at the token endpoint. `token.ts` has checked client, registration and scope before it is asked. */
export interface Grant {
  readonly type: GrantType
  /** Whether a client that cannot prove itself may use it (RFC 6749 section 4.4 forbids it for client_credentials). */
  readonly servesPublicClients: boolean
  /** Whether `scope` is a parameter of it; where it is not, `scope` is ignored like any unknown parameter. */
  readonly takesScope: boolean
  /** @throws OAuthError invalid_request, invalid_grant or invalid_scope; StoreUnavailableError */
  redeem(request: GrantRequest): MaybePromise<Granted>
}

export interface GrantRequest {
  readonly form: Form
  readonly client: ClientRegistration
  /** What was asked for, a part of what the client is registered for; undefined where nothing was. */
  readonly scope: readonly string[] | undefined
  readonly senderConstraint: SenderConstraint
  readonly beginToken: BeginToken
  /** For the one step in which the grant is used; what follows from its outcome comes after. */
  readonly query: StoreQuery
}

/** The access token of one token request: what the store is to be told, and the text once all is known. */
export interface NewToken extends TokenToStore {
  toText(record: AccessTokenRecord): string
}

/**
 * Begins the access token of a request.
 * @param jti names this token among those of the grant
 * @param scopes those it may have, of what was agreed to; left out: all of it
 */
export type BeginToken = (grantId: string, jti: string, scopes?: readonly string[]) => NewToken

/** The access token, kept by the store if it has to be; what was agreed to; and the refresh token that goes with it. */
export interface Granted {
  readonly token: NewToken
  readonly agreed: Agreed
  /** Present where the caller has to replace, or gets its first, refresh token. */
  readonly refreshToken?: string
}

/** What the grants use that redeem a code or a refresh token. */
export interface RedemptionDeps {
  readonly options: Pick<OAuthOptions, 'profile' | 'accessToken' | 'refreshToken' | 'login' | 'users'>
  readonly store: Pick<Store, 'grants'>
  readonly keys: Pick<KeyRing, 'digest'>
  readonly clients: Pick<ClientRegistry, 'has'>
  readonly revocations: Pick<RevocationFeed, 'queryWithNotBefore' | 'isCutOff' | 'revoke'>
  readonly clock: Clock
}

/** A fresh name for one access token among several of a grant. */
export const newFamilyJti = (grantId: string): string => `${grantId}.${randomText(16)}`
