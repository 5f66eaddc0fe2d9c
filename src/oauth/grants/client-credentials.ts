import { newGrantId } from '../tokens/code.ts'
import type { Grant } from './grant.ts'

/** RFC 6749 section 4.4: the client acts for itself. There is no refresh token (section 4.4.3). */
export const createClientCredentialsGrant = (): Grant => ({
  type: 'client_credentials',
  servesPublicClients: false,
  takesScope: true,
  redeem: ({ client, scope }) => {
    const grantId = newGrantId()
    // RFC 9068 section 2.2: the subject of a token without a person is its client.
    return { grantId, jti: grantId, sub: client.client_id, scope: scope ?? client.scope, resource: [] }
  },
})
