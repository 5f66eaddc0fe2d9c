import { randomBytes } from 'node:crypto'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import type { OAuthDeps } from '../../../src/oauth/deps.ts'
import { createCompletion } from '../../../src/oauth/interaction/completion.ts'
import { newBrowserSecret } from '../../../src/oauth/interaction/cookie.ts'
import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import { pageContextOf } from '../../../src/oauth/pages/page.ts'
import type { InteractionRecord } from '../../../src/stores/ports/interactions.ts'

export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

export interface CodeOptions {
  /** Empty: the authorization request sends no challenge. */
  readonly verifier?: string
  /** The redirect URI that the authorization request sends. Left out: the request sends none. */
  readonly redirect_uri?: string
  readonly scope?: string
  /** The resources that alice allows. Left out: the request has none. */
  readonly resource?: readonly string[]
  /** Thumbprint of the DPoP key that the code is bound to. */
  readonly dpop_jkt?: string
}

/** The code that the authorization server issues at the end of an interaction when alice allows the request. */
export const makeCode = async (deps: OAuthDeps, client_id: string, options: CodeOptions = {}): Promise<string> => {
  const { store, clock } = deps
  const client = deps.options.clients.find(client_id)
  if (!client) throw new TypeError(`no client has the id ${client_id}`)
  const [id, secret] = [randomBytes(16).toString('base64url'), newBrowserSecret()]
  const expiresAtMs = clock.nowMs() + deps.options.interactionLifetimeSec * 1000
  const record = agreedInteraction(client, options, {
    nowMs: clock.nowMs(),
    browserDigest: deps.keys.digest(secret),
    expiresAtMs,
  })
  await store.interactions.create(id, record, expiresAtMs)
  const pageContext = pageContextOf(deps.options.issuer, { acceptLanguage: undefined })
  const { headers } = await createCompletion(deps).allow({ id, secret, client, pageContext, record })
  const code = new URL(String(headers.location)).searchParams.get('code')
  if (code === null) throw new Error(`the redirect has no code: ${headers.location}`)
  return code
}

interface Opened {
  readonly nowMs: number
  readonly browserDigest: string
  readonly expiresAtMs: number
}

/** An interaction at the consent page, after alice has signed in. */
const agreedInteraction = (
  { client_id, redirect_uris }: ClientRegistration,
  { verifier: codeVerifier = verifier, redirect_uri, scope = 'read write', resource = [], dpop_jkt }: CodeOptions,
  { nowMs, browserDigest, expiresAtMs }: Opened,
): InteractionRecord => ({
  client_id,
  redirect_uri: redirect_uri ?? redirect_uris[0] ?? '',
  redirectUriSent: redirect_uri !== undefined,
  scope,
  resource,
  ...(codeVerifier !== '' && { code_challenge: challengeOf(codeVerifier) }),
  ...(dpop_jkt !== undefined && { dpop_jkt }),
  browserDigest,
  stage: 'consent',
  failedLogins: 0,
  beganAtSec: Math.floor(nowMs / 1000),
  expiresAtMs,
  sub: `sub-${randomBytes(4).toString('hex')}`,
  username: 'alice',
  authTimeSec: 0,
})
