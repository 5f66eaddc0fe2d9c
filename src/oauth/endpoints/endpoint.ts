import type { ClientRegistration } from '../clients/metadata.ts'
import type { Form } from '../forms/form.ts'
import type { MaybePromise } from '../functional.ts'
import type { OAuthReply, OAuthRequest } from '../protocol.ts'
import type { StoreQuery } from '../replay-protection.ts'

/**
 * An endpoint that clients call. The client has authenticated. The first call of `query` runs the pending replay
 * checks too.
 */
export type Endpoint = (
  form: Form,
  client: ClientRegistration,
  query: StoreQuery,
  request: OAuthRequest,
) => MaybePromise<OAuthReply>
