import type { Clock } from '../../clock.ts'
import { clockSpreadMs } from '../../stores/ports/clock-spread.ts'
import type { OAuthOptions } from '../options.ts'
import type { RevocationFeed } from './revocation-feed.ts'

export interface RevokeGrantDeps {
  readonly revocations: Pick<RevocationFeed, 'revoke'>
  readonly options: Pick<OAuthOptions, 'accessToken'>
  readonly clock: Clock
}

/**
 * Revokes a grant with all that was issued from it. The store forgets the grant, and keeps it revoked while any of its access
 * tokens may live: those issued under the lifetime of now, and under a longer one that was in force before.
 * @throws StoreUnavailableError
 */
export const revokeGrant = ({ revocations, options, clock }: RevokeGrantDeps, grantId: string): Promise<void> =>
  revocations.revoke(grantId, clock.nowMs() + options.accessToken.lifetimeSec * 1000 + clockSpreadMs)
