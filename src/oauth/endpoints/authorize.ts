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

/** @param sent the parameters of the request, or why it has none */
export type Authorize = (request: OAuthRequest, sent: Parameters | UnreadableParameters) => MaybePromise<OAuthReply>

/**
 * The authorization endpoint (RFC 6749 section 3.1), for GET and POST alike. A request without a known client and one
 * of its redirect URIs gets a 400 page; any other bad one a redirect with an error; a good one an interaction, which
 * this browser alone can go on with.
 * @throws StoreUnavailableError; OAuthError temporarily_unavailable where a client's keys cannot be fetched,
 * rate_limit_exceeded where an address begins too many, or sends too many bad request objects
 */
export const createAuthorize = (deps: OAuthDeps, readObject: ReadRequestObject): Authorize => {
  const { options, clients } = deps
  const readMeaning = createRequestResolver(deps, readObject)
  const begin = createStartInteraction(deps)

  const answer = (
    client: ClientRegistration,
    meant: ResolvedParameters,
    setting: PageContext,
    from: string,
  ): MaybePromise<OAuthReply> => {
    const addressed = findAddress(client, meant.parameters)
    if (typeof addressed === 'string') return unaddressedPage(setting, addressed)
    const parsed = parseAuthorizationRequest(meant.parameters, client, options)
    if ('error' in parsed) return refuse(addressed, parsed)
    if (isPromptNone(meant.parameters.get('prompt'))) return refuse(addressed, loginRequired)
    return begin(addressed, { ...parsed, ...(meant.pushedId !== undefined && { pushedId: meant.pushedId }) }, from)
  }
  /** What was meant is not known, so only what was sent plainly says where the answer may go. */
  const refuseUnread = (
    client: ClientRegistration,
    sent: Parameters,
    refusal: AuthorizationRefusal,
    setting: PageContext,
  ): OAuthReply => {
    const addressed = findAddress(client, sent)
    const isPushed = refusal.error === 'invalid_request_uri' // sent plainly beside it is nothing that was checked
    if (isPushed || typeof addressed === 'string') return unaddressedPage(setting, refusal.description, refusal)
    return refuse(addressed, refusal)
  }
  const refuse = (addressed: RequestWithRedirect, refusal: AuthorizationRefusal): OAuthReply => {
    const { error, description, proofFault } = refusal
    const reply = seeOther(toErrorRedirect(addressed, error, description, options.issuer))
    return { ...reply, facts: { client_id: addressed.client.client_id, error, proofFault } }
  }

  return (request, sent) => {
    const setting = pageContextOf(options.issuer, request)
    if (typeof sent === 'string') return unaddressedPage(setting, unreadableHints[sent])
    if (sent.faults.has('client_id')) {
      return unaddressedPage(setting, 'client_id was sent more than once, or cannot be read.')
    }
    const client = clients.find(sent.get('client_id') ?? '')
    if (!client) return unaddressedPage(setting, 'client_id is missing, or no client is registered under it.')
    return mapMaybe(readMeaning(sent, client, request.address), meant =>
      'error' in meant ? refuseUnread(client, sent, meant, setting) : answer(client, meant, setting, request.address),
    )
  }
}

const unreadableHints = {
  not_form_encoded: 'The body is not application/x-www-form-urlencoded.',
  too_many: `More than ${maxPairs} parameters were sent.`,
} as const satisfies Record<UnreadableParameters, string>

/** Where the answer may go, or the reason why it may go nowhere (RFC 6749 section 4.1.2.1, RFC 9700 section 4.11.2). */
const findAddress = (client: ClientRegistration, parameters: Parameters): RequestWithRedirect | string => {
  if (parameters.faults.has('redirect_uri')) return 'redirect_uri was sent more than once, or cannot be read.'
  const target = findRedirectTarget(client, parameters.get('redirect_uri'))
  if (!target) return 'redirect_uri is missing, or is not exactly one that the client has registered.'
  const state = parameters.get('state')
  return stateFault(state) ?? { client, ...target, ...(state === undefined ? {} : { state }) }
}

/** No session is kept, so nobody is ever signed in beforehand (OpenID Connect Core section 3.1.2.1). */
const loginRequired: AuthorizationRefusal = {
  error: 'login_required',
  description: 'Nobody can be signed in without a page.',
}

const unaddressedPage = (
  setting: PageContext,
  hint: string,
  { error, proofFault }: Pick<AuthorizationRefusal, 'error' | 'proofFault'> = { error: 'invalid_request' },
): OAuthReply => messagePage(setting, { status: 400, name: 'unaddressed', hint, facts: { error, proofFault } })
