import { isPromptNone } from '../authorization/parameter-values.ts'
import { findRedirectTarget } from '../authorization/redirect-uri.ts'
import { type AuthorizationRefusal, parseAuthorizationRequest, stateFault } from '../authorization/request.ts'
import type { ReadRequestObject } from '../authorization/request-object.ts'
import { createRequestResolver, type ResolvedParameters } from '../authorization/resolve-request.ts'
import { seeOther, toErrorRedirect } from '../authorization/response.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters, UnreadableParameters } from '../forms/parameters.ts'
import { maxPairs } from '../forms/urlencoded.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { createStartInteraction, type RequestWithRedirect } from '../interaction/start-interaction.ts'
import { messagePage } from '../pages/message-page.ts'
import { type PageContext, pageContextOf } from '../pages/page.ts'
import type { OAuthReply, OAuthRequest } from '../protocol.ts'

/** @param sent the parameters of the request, or why they cannot be read */
export type Authorize = (request: OAuthRequest, sent: Parameters | UnreadableParameters) => MaybePromise<OAuthReply>

/**
 * The authorization endpoint (RFC 6749 section 3.1), for GET and POST alike. A request without a known client and one
 * of its redirect URIs gets a 400 page. Any other invalid request gets a redirect with an error. A valid request
 * starts an interaction, which only this browser can continue.
 * @throws StoreUnavailableError; OAuthError temporarily_unavailable if a client's keys cannot be fetched,
 * rate_limit_exceeded if an address starts too many interactions or sends too many invalid request objects
 */
export const createAuthorize = (deps: OAuthDeps, readObject: ReadRequestObject): Authorize => {
  const { options, clients } = deps
  const resolveRequest = createRequestResolver(deps, readObject)
  const startInteraction = createStartInteraction(deps)

  const answer = (
    client: ClientRegistration,
    resolved: ResolvedParameters,
    pageContext: PageContext,
    from: string,
  ): MaybePromise<OAuthReply> => {
    const target = findTarget(client, resolved.parameters)
    if (typeof target === 'string') return noRedirectPage(pageContext, target)
    const parsed = parseAuthorizationRequest(resolved.parameters, client, options)
    if ('error' in parsed) return refuse(target, parsed)
    if (isPromptNone(resolved.parameters.get('prompt'))) return refuse(target, loginRequired)
    return startInteraction(
      target,
      { ...parsed, ...(resolved.pushedId !== undefined && { pushedId: resolved.pushedId }) },
      from,
    )
  }
  /** The request object or request_uri could not be read, so only the plain parameters can give the redirect target. */
  const refuseUnresolved = (
    client: ClientRegistration,
    sent: Parameters,
    refusal: AuthorizationRefusal,
    pageContext: PageContext,
  ): OAuthReply => {
    const target = findTarget(client, sent)
    const isPushed = refusal.error === 'invalid_request_uri' // the plain parameters beside a request_uri were never checked
    if (isPushed || typeof target === 'string') return noRedirectPage(pageContext, refusal.description, refusal)
    return refuse(target, refusal)
  }
  const refuse = (target: RequestWithRedirect, refusal: AuthorizationRefusal): OAuthReply => {
    const { error, description, proofFault } = refusal
    const reply = seeOther(toErrorRedirect(target, error, description, options.issuer))
    return { ...reply, facts: { client_id: target.client.client_id, error, proofFault } }
  }

  return (request, sent) => {
    const pageContext = pageContextOf(options.issuer, request)
    if (typeof sent === 'string') return noRedirectPage(pageContext, unreadableHints[sent])
    if (sent.faults.has('client_id')) {
      return noRedirectPage(pageContext, 'client_id was sent more than once, or cannot be read.')
    }
    const client = clients.find(sent.get('client_id') ?? '')
    if (!client) return noRedirectPage(pageContext, 'client_id is missing, or no client is registered under it.')
    return mapMaybe(resolveRequest(sent, client, request.address), resolved =>
      'error' in resolved
        ? refuseUnresolved(client, sent, resolved, pageContext)
        : answer(client, resolved, pageContext, request.address),
    )
  }
}

const unreadableHints = {
  not_form_encoded: 'The body is not application/x-www-form-urlencoded.',
  too_many: `More than ${maxPairs} parameters were sent.`,
} as const satisfies Record<UnreadableParameters, string>

/** The redirect target, or why no redirect may be sent (RFC 6749 section 4.1.2.1, RFC 9700 section 4.11.2). */
const findTarget = (client: ClientRegistration, parameters: Parameters): RequestWithRedirect | string => {
  if (parameters.faults.has('redirect_uri')) return 'redirect_uri was sent more than once, or cannot be read.'
  const target = findRedirectTarget(client, parameters.get('redirect_uri'))
  if (!target) return 'redirect_uri is missing, or is not exactly one that the client has registered.'
  const state = parameters.get('state')
  return stateFault(state) ?? { client, ...target, ...(state === undefined ? {} : { state }) }
}

/** There are no login sessions, so every user has to sign in on a page (OpenID Connect Core section 3.1.2.1). */
const loginRequired: AuthorizationRefusal = {
  error: 'login_required',
  description: 'The user cannot sign in without a page.',
}

const noRedirectPage = (
  pageContext: PageContext,
  hint: string,
  { error, proofFault }: Pick<AuthorizationRefusal, 'error' | 'proofFault'> = { error: 'invalid_request' },
): OAuthReply => messagePage(pageContext, { status: 400, name: 'unaddressed', hint, facts: { error, proofFault } })
