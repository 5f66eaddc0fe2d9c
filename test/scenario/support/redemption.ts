import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import { verifier } from '../../oauth/support/authorization-server.ts'
import type { Fields } from '../../oauth/support/post.ts'
import { callback, signInAndAllow } from '../../oauth/support/running.ts'

/** A code that alice agreed to at this gateway, as a token request for it. */
export const newRedemption = async (url: string, client_id: string): Promise<Fields> => {
  const query = { client_id, response_type: 'code', redirect_uri: callback }
  const challenge = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const location = await signInAndAllow(new URL(`${url}/authorize?${new URLSearchParams({ ...query, ...challenge })}`))
  const code = location.searchParams.get('code') ?? ''
  return { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
}

export const refreshOf = (refresh_token: unknown): Fields => ({
  grant_type: 'refresh_token',
  refresh_token: String(refresh_token),
})
