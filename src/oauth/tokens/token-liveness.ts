import type { Clock } from '../../clock.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { ClientRegistry } from '../clients/client-registry.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { isOpaque } from '../opaque-token.ts'
import { isUnexpired } from './access-token.ts'
import type { RevocationFeed } from './revocation-feed.ts'
import type { VerifyAccessToken } from './verify-access-token.ts'

/**
 * Whether an access token that the gateway has accepted has expired or was revoked since. For a JWT, and for an
 * opaque token whose grant was revoked or cut off, the local feed of revocations answers without a query of the
 * store.
 */
export type TokenLiveness = (token: string, record: AccessTokenRecord) => MaybePromise<boolean>

/** How old a cached look-up may be. Thousands of tokens may be checked all the time. */
const lookupAgeMs = 5000

export interface TokenLivenessDeps {
  readonly clients: Pick<ClientRegistry, 'find'>
  readonly revocations: Pick<RevocationFeed, 'isRevoked'>
  readonly clock: Clock
}

export const createTokenLiveness =
  ({ clients, revocations, clock }: TokenLivenessDeps, verify: VerifyAccessToken): TokenLiveness =>
  (token, record) => {
    if (!isUnexpired(record, clock.nowMs()) || !clients.find(record.client_id) || revocations.isRevoked(record))
      return true
    return isOpaque(token) && mapMaybe(verify(token, lookupAgeMs), found => found === undefined)
  }
