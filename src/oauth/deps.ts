import type { Clock } from '../clock.ts'
import type { Store } from '../stores/ports/store.ts'
import type { ReportFetchFailure } from './client-keys/key-source.ts'
import type { ClientRegistry } from './clients/client-registry.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { FailureLimit, StartLimit } from './limits.ts'
import type { OAuthOptions } from './options.ts'
import type { RevocationFeed } from './tokens/revocation-feed.ts'

/**
 * Everything that the authorization server is built from. Functions below `index.ts` and the endpoints declare only
 * the members that they use.
 */
export interface OAuthDeps {
  readonly options: OAuthOptions
  readonly store: Store
  readonly clock: Clock
  readonly clients: ClientRegistry
  readonly keys: KeyRing
  /** Counts failed passwords on the login pages, over all workers. */
  readonly failures: FailureLimit
  readonly starts: StartLimit
  /** The revoked grants and tokens. The caller opened the feed and closes it. */
  readonly revocations: RevocationFeed
  readonly reportFetchFailure: ReportFetchFailure
}
