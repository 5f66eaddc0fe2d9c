import type { Clock } from '../../clock.ts'
import type { Confirmation } from '../../stores/ports/confirmation.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { ClientRegistry } from '../clients/client-registry.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { createGenerationalCache } from '../generational-cache.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { SigningKey } from '../keys/signing-key.ts'
import { newGrantSecret } from '../opaque-token.ts'
import type { OAuthOptions } from '../options.ts'
import { type Claims, signJwt, verifyJwt } from './jwt.ts'

/** Issues access tokens in the configured format, and reads JWT access tokens. */
export interface AccessTokens {
  /** Begins a token of this grant before its record is known. */
  begin(grantId: string): BegunToken
  /**
   * The record of a JWT that this server issued and that has not expired, or undefined. The caller checks whether it
   * was revoked: the gateway and introspection look that up in different places.
   */
  readJwt(token: string): MaybePromise<AccessTokenRecord | undefined>
}

export interface BegunToken {
  /** The keyed digest under which the store must hold the token. Left out: the token is a JWT and is not stored. */
  readonly digest?: string
  toText(record: AccessTokenRecord): string
}

/** The number of JWTs whose verified records are cached, about a kilobyte each. A verification takes 60 µs. */
const maxCachedTokens = 5_000

/**
 * Twice the length of a token with a few scopes and resources. Longer tokens are not cached, so that a client cannot
 * fill the memory.
 */
const maxCachedLength = 2048

export interface AccessTokenDeps {
  readonly options: Pick<OAuthOptions, 'issuer' | 'accessToken'>
  readonly keys: KeyRing
  readonly clients: Pick<ClientRegistry, 'find'>
  readonly clock: Clock
}

export const createAccessTokens = ({ options, keys, clients, clock }: AccessTokenDeps): AccessTokens => {
  const verified = createGenerationalCache<AccessTokenRecord>(maxCachedTokens)

  const beginOpaque = (grantId: string): BegunToken => {
    const token = newGrantSecret(grantId)
    return { digest: keys.digest(token), toText: () => token }
  }
  const signerFor = (client_id: string): SigningKey =>
    keys.current(clients.find(client_id)?.access_token_signed_response_alg ?? options.accessToken.alg)
  const verify = (token: string): MaybePromise<AccessTokenRecord | undefined> =>
    mapMaybe(verifyJwt(token, 'at+jwt', keys), claims => {
      const record = claims && toRecord(claims, options.issuer)
      if (record && token.length <= maxCachedLength) verified.set(token, record)
      return record
    })
  const jwt: BegunToken = {
    toText: record => signJwt(signerFor(record.client_id), 'at+jwt', toClaims(record, options.issuer)),
  }
  return {
    begin: grantId => (options.accessToken.format === 'jwt' ? jwt : beginOpaque(grantId)),
    readJwt: token =>
      mapMaybe(verified.get(token) ?? verify(token), record =>
        record && isUnexpired(record, clock.nowMs()) ? record : undefined,
      ),
  }
}

/** Whether the token has not expired. At `exp` itself it has (RFC 7519 section 4.1.4). */
export const isUnexpired = (record: AccessTokenRecord, nowMs: number): boolean => nowMs < record.exp * 1000

/**
 * A token that is bound to a DPoP key has the type DPoP (RFC 9449 section 6.2); one that is bound only to a
 * certificate is Bearer.
 */
export const tokenTypeOf = ({ cnf }: Pick<AccessTokenRecord, 'cnf'>): 'Bearer' | 'DPoP' =>
  cnf && 'jkt' in cnf ? 'DPoP' : 'Bearer'

/**
 * RFC 9068 sections 2.2 and 2.2.1; `cnf` by RFC 7800. `username` is added for users, so that introspection returns
 * the same members for both formats.
 */
const toClaims = (record: AccessTokenRecord, issuer: string): Claims => ({
  iss: issuer,
  aud: record.aud,
  sub: record.sub,
  client_id: record.client_id,
  // JSON leaves undefined members out.
  username: record.username,
  scope: record.scope === '' ? undefined : record.scope,
  iat: record.iat,
  nbf: record.iat,
  exp: record.exp,
  jti: record.jti,
  cnf: record.cnf,
  acr: record.acr,
  auth_time: record.auth_time,
})

/** Undefined if the claims are not those of an access token of this server. */
const toRecord = (claims: Claims, issuer: string): AccessTokenRecord | undefined => {
  const { iss, aud, sub, client_id, username, scope = '', iat, exp, jti, cnf, acr, auth_time } = claims
  if (iss !== issuer || !isText(sub) || !isText(client_id) || !isText(scope) || !isText(jti)) return undefined
  if (!isAudience(aud) || typeof iat !== 'number' || typeof exp !== 'number') return undefined
  // A binding that cannot be parsed must not make the token a bearer token.
  if (cnf !== undefined && !isConfirmation(cnf)) return undefined
  return {
    jti,
    client_id,
    sub,
    ...(isText(username) && { username }),
    scope,
    aud,
    iat,
    exp,
    ...(cnf && { cnf }),
    ...(isText(acr) && { acr }),
    ...(typeof auth_time === 'number' && { auth_time }),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isAudience = (value: unknown): value is string | readonly string[] =>
  isText(value) || (Array.isArray(value) && value.every(isText))

const isConfirmation = (value: unknown): value is Confirmation => {
  if (typeof value !== 'object' || value === null) return false
  const { jkt, 'x5t#S256': thumbprint, ...others } = value as Claims
  const known = [jkt, thumbprint].filter(member => member !== undefined)
  return known.length > 0 && known.every(isText) && Object.keys(others).length === 0
}
