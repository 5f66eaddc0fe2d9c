import { type Fields, type Posted, post } from '../../support/post.ts'
import { callback, newCode, verifier } from './browser.ts'

/** The options that may differ between requests. */
export interface Sent {
  readonly scope?: string
  readonly headers?: Fields
  /** Another gateway of the same issuer. */
  readonly at?: string
}

/** Requests to the token endpoint; a client whose name ends with `spa` is public. */
export interface TokenRequests {
  refresh(refresh_token: unknown, client_id: string, sent?: Sent): Promise<Posted>
  /** The tokens of a grant of alice. */
  signIn(client_id: string, sent?: Sent): Promise<Posted['body']>
}

export const createTokenRequests = (url: string): TokenRequests => {
  const ask = (client_id: string, grant: Fields, { headers = {}, at = url }: Sent): Promise<Posted> =>
    client_id.endsWith('spa')
      ? post(`${at}/token`, { ...grant, client_id }, undefined, headers)
      : post(`${at}/token`, grant, client_id, headers)
  return {
    refresh: (token, client_id, { scope, ...sent } = {}) => {
      const grant = { grant_type: 'refresh_token', refresh_token: String(token) }
      return ask(client_id, { ...grant, ...(scope !== undefined && { scope }) }, sent)
    },
    signIn: async (client_id, { scope, ...sent } = {}) => {
      const code = await newCode(sent.at ?? url, { client_id, scope })
      const grant = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
      return (await ask(client_id, grant, sent)).body
    },
  }
}
