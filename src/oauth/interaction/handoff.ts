import { OAuthError } from '../../errors.ts'
import { seeOther } from '../authorization/response.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import { parseParameters } from '../forms/parameters.ts'
import type { Digest } from '../opaque-token.ts'
import { pageContextOf } from '../pages/page.ts'
import { finishedPage, foreignPage } from '../pages/terminal-pages.ts'
import type { OAuthReply, OAuthRequest } from '../protocol.ts'
import { timingSafeEqualText } from '../timing-safe-equal.ts'
import { createBrowserBinding, type Found, findInteraction } from './browser-binding.ts'
import { createCompletion } from './completion.ts'
import { createBrowserCookie } from './cookie.ts'
import { toRejectionError } from './decision.ts'
import { decryptRedirect } from './encrypt-redirect.ts'
import { createExpired } from './expired.ts'
import type { InteractionSession } from './interaction-session.ts'
import { loginUrl } from './redirect-to-login.ts'

/**
 * The browser's side of a hand-off to the operator's own login. `/interaction/<id>` redirects to that login.
 * `/interaction/<id>/resume?token=…`, the URL that the private listener gave to that login, redirects to the client.
 * To resume, a browser needs the token and the cookie of the browser that started the interaction, so that neither is
 * of use alone. A client with `bindToBrowser: false` needs the token alone.
 * @throws StoreUnavailableError; OAuthError invalid_request (405) for a HEAD that would end the interaction
 */
export const createHandoff = (deps: OAuthDeps): ((request: OAuthRequest) => Promise<OAuthReply>) => {
  const { issuer, login } = deps.options
  const findBound = createBrowserBinding(deps)
  const verifyResume = createResumeVerifier(deps)
  const expired = createExpired(deps)
  const completion = createCompletion(deps)

  const redirectToLoginPage = async (request: OAuthRequest): Promise<OAuthReply> => {
    const bound = await findBound(request)
    if (bound.kind === 'unknown') return expired(request)
    if (bound.kind !== 'bound') return foreignPage(pageContextOf(issuer, request))
    const { id, record, pageContext } = bound.session
    return record.stage === 'done' ? finishedPage(pageContext) : seeOther(loginUrl(login, id))
  }

  const resume = async (id: string, request: OAuthRequest): Promise<OAuthReply> => {
    if (request.method !== 'GET') throw onlyGet()
    const found = await findInteraction(deps, id)
    if (!found) return expired(request)
    const session = verifyResume(id, found, request)
    if (!session) return foreignPage(pageContextOf(issuer, request))
    const { redirect, handoff } = session.record
    if (redirect !== undefined) return seeOther(decryptRedirect(redirect, session.secret))
    if (!handoff?.rejection) return completion.allow(session)
    const { error, description } = handoff.rejection
    return completion.decline(session, toRejectionError(error), description)
  }

  return request => {
    const id = parseResumePath(request.path)
    return id === undefined ? redirectToLoginPage(request) : resume(id, request)
  }
}

/** HEAD is a safe method (RFC 9110 section 9.2.1), but to resume ends the interaction. */
const onlyGet = (): OAuthError =>
  new OAuthError('invalid_request', 'Only GET is allowed for this URL.', { status: 405, headers: { allow: 'GET' } })

const parseResumePath = (path: string): string | undefined =>
  /^\/interaction\/([A-Za-z0-9_-]{22})\/resume$/.exec(path)?.[1]

/** The URL to which the operator's login sends the user's browser back. */
export const resumeUrl = (issuer: string, interactionId: string, token: string): string =>
  `${new URL(issuer).origin}/interaction/${interactionId}/resume?token=${token}`

/** The one-time token in that URL. The store holds only its salt. */
export const resumeToken = (interactionId: string, salt: string, digest: Digest): string =>
  digest(`resume\0${interactionId}\0${salt}`)

/** The session of a browser that may resume, or undefined. */
type VerifyResume = (id: string, found: Found, request: OAuthRequest) => InteractionSession | undefined

const createResumeVerifier = ({ options, keys }: OAuthDeps): VerifyResume => {
  const cookie = createBrowserCookie(options.issuer)

  const secretOf = (client: ClientRegistration, token: string, browserDigest: string, request: OAuthRequest) =>
    !client.bindToBrowser
      ? token
      : cookie.parse(request.cookie).find(secret => timingSafeEqualText(keys.digest(secret), browserDigest))

  return (id, { client, record }, request) => {
    const sent = parseParameters(request)
    const token = typeof sent === 'string' ? undefined : sent.get('token')
    if (token === undefined || !record.handoff) return undefined
    if (!timingSafeEqualText(token, resumeToken(id, record.handoff.resumeSalt, keys.digest))) return undefined
    const secret = secretOf(client, token, record.browserDigest, request)
    const pageContext = pageContextOf(options.issuer, request, record.ui_locales)
    return secret === undefined ? undefined : { id, secret, client, record, pageContext }
  }
}
