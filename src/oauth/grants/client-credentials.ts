import type { Store } from '../../stores/ports/store.ts'
import { type Agreed, completeToken } from '../../stores/ports/token-draft.ts'
import { mapMaybe } from '../functional.ts'
import { newGrantId } from '../opaque-token.ts'
import { joinScope } from '../scope.ts'
import type { Grant, NewToken } from './grant.ts'

/** RFC 6749 section 4.4: the client acts on its own behalf. There is no refresh token (section 4.4.3). */
export const createClientCredentialsGrant = ({ store }: { readonly store: Pick<Store, 'tokens'> }): Grant => {
  const keep = (grantId: string, { draft, digest }: NewToken, agreed: Agreed): Promise<void> | undefined =>
    digest === undefined
      ? undefined
      : store.tokens.save(grantId, digest, completeToken(draft, agreed), draft.exp * 1000)
  return {
    type: 'client_credentials',
    servesPublicClients: false,
    takesScope: true,
    redeem: ({ client, scope, beginToken, query }) => {
      const grantId = newGrantId()
      // The grant has only this token, so the grant id is its `jti` too.
      const token = beginToken(grantId, grantId)
      // RFC 9068 section 2.2: the subject of a token without a user is its client.
      const agreed = { sub: client.client_id, scope: joinScope(scope ?? client.scope), resource: [] }
      const kept = query(() => keep(grantId, token, agreed))
      return mapMaybe(kept, () => ({ token, agreed }))
    },
  }
}
