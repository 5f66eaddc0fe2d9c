import { randomBytes } from 'node:crypto'
import type { GrantRecord } from '../../stores/ports.ts'
import type { Form } from '../forms/form.ts'
import type { ClientRegistration } from '../options.ts'
import type { MaybePromise } from '../when-known.ts'
import type { GrantType } from '../wire.ts'
import type { Possession } from './possession.ts'

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
  readonly possession: Possession
}

/** What an access token is to say, and the refresh token that goes with it. */
export interface Granted {
  /** Names all that this authorization leads to; revoking it ends all of it. */
  readonly grantId: string
  /** Names the access token alone; `grantId` itself where the grant leads to no other token. */
  readonly jti: string
  readonly sub: string
  readonly username?: string
  readonly scope: readonly string[]
  /** How its person signed in, and when; left out where there is none. */
  readonly acr?: string
  readonly authTimeSec?: number
  /** RFC 8707 resources that were agreed to; empty: the issuer. */
  readonly resource: readonly string[]
  /** Present where the caller has to replace, or gets its first, refresh token. */
  readonly refreshToken?: string
}

/** A fresh name for one access token among several of a grant. */
export const newFamilyJti = (grantId: string): string => `${grantId}.${randomBytes(16).toString('base64url')}`

/** Whom the tokens of a grant speak of. */
export const personOf = (record: GrantRecord): Pick<Granted, 'sub' | 'username' | 'acr' | 'authTimeSec'> => ({
  sub: record.sub,
  ...(record.username !== undefined && { username: record.username }),
  ...(record.acr !== undefined && { acr: record.acr }),
  authTimeSec: record.authTimeSec,
})
