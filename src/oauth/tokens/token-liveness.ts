import type { Clock } from '../../clock.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { ClientRegistry } from '../clients/client-registry.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { isOpaque } from '../opaque-token.ts'
import { isUnexpired } from './access-token.ts'
import type { RevocationFeed } from './revocation-feed.ts'
import type { VerifyAccessToken } from './verify-access-token.ts'

/**
 * Whether an access token that the gateway has let in is good no more. What it was is known already: a JWT, and an opaque
 * token whose grant ended or was cut off, cost a look into the feed of revocations.
 */
export type TokenLiveness = (token: string, record: AccessTokenRecord) => MaybePromise<boolean>

/** How old an answer of the store may be: there may be thousands of them that are asked about all the time. */
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
