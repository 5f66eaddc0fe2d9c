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
 * Revokes a grant with all its tokens. The store deletes the grant, and keeps the revocation while any of its access
 * tokens may still be valid: those with the current lifetime, and those that were issued under a longer one.
 * @throws StoreUnavailableError
 */
export const revokeGrant = ({ revocations, options, clock }: RevokeGrantDeps, grantId: string): Promise<void> =>
  revocations.revoke(grantId, clock.nowMs() + options.accessToken.lifetimeSec * 1000 + clockSpreadMs)
