import type { OAuthDeps } from '../deps.ts'
import { type Parameters, parseParameters } from '../forms/parameters.ts'
import { messagePage } from '../pages/message-page.ts'
import type { OAuthReply, OAuthRequest } from '../wire.ts'
import { type Addressed, createBegin } from './beginning.ts'
import { findRedirectTarget } from './redirect-uri.ts'
import { parseAuthorizationRequest } from './request.ts'
import { seeOther, toErrorRedirect } from './response.ts'

/**
 * The authorization endpoint (RFC 6749 section 3.1), for GET and POST alike. A request without a known client and one
 * of its redirect URIs gets a 400 page; any other bad one a redirect with an error; a good one an interaction, which
 * this browser alone can go on with.
 * @throws StoreUnavailableError
 */
export const createAuthorize = (deps: OAuthDeps): ((request: OAuthRequest) => OAuthReply | Promise<OAuthReply>) => {
  const { issuer } = deps.options
  const begin = createBegin(deps)
  return request => {
    const parameters = parseParameters(request)
    if (!parameters) return unaddressedPage(issuer, 'The body is not application/x-www-form-urlencoded.')
    const addressed = findAddress(deps, parameters)
    if (typeof addressed === 'string') return unaddressedPage(issuer, addressed)
    const parsed = parseAuthorizationRequest(parameters, addressed.client)
    if (!('error' in parsed)) return begin(addressed, parsed)
    const reply = seeOther(toErrorRedirect(addressed, parsed.error, parsed.description, issuer))
    return { ...reply, facts: { client_id: addressed.client.client_id, error: parsed.error } }
  }
}

/** Where the answer may go, or the reason why it may go nowhere (RFC 6749 section 4.1.2.1, RFC 9700 section 4.11.2). */
const findAddress = ({ clients }: OAuthDeps, parameters: Parameters): Addressed | string => {
  if (parameters.faults.has('client_id')) return 'client_id was sent more than once, or cannot be read.'
  if (parameters.faults.has('redirect_uri')) return 'redirect_uri was sent more than once, or cannot be read.'
  const client = clients.find(parameters.get('client_id') ?? '')
  if (!client) return 'client_id is missing, or no client is registered under it.'
  const target = findRedirectTarget(client, parameters.get('redirect_uri'))
  if (!target) return 'redirect_uri is missing, or is not exactly one that the client has registered.'
  const state = parameters.get('state')
  return { client, ...target, ...(state === undefined ? {} : { state }) }
}

const unaddressedPage = (issuer: string, hint: string): OAuthReply =>
  messagePage(issuer, {
    status: 400,
    title: 'This link does not work',
    text: 'The application that sent you here asked in a way that cannot be answered. Go back to it and try again; if that does not help, tell the people who run it.',
    hint,
    facts: { error: 'invalid_request' },
  })
