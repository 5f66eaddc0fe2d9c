import type { Parameters } from '../forms/parameters.ts'
import type { ClientRegistration } from '../options.ts'
import { areResources, resourceRule } from '../resource.ts'
import { joinScope, splitScope } from '../scope.ts'
import type { AuthorizationErrorCode } from './response.ts'

/** What a client asks a person for, once its redirect target is known to be good. */
export interface AuthorizationRequest {
  /** Space-separated, as RFC 6749 section 3.3 writes it. */
  readonly scope: string
  /** RFC 8707 resources; empty means the issuer. */
  readonly resource: readonly string[]
  /** S256. Left out only by a client whose registration says `pkce: optional`. */
  readonly code_challenge?: string
}

/** Why a request is refused, to be told to the client by redirect. */
export interface AuthorizationRefusal {
  readonly error: AuthorizationErrorCode
  readonly description: string
}

type Check = (parameters: Parameters, client: ClientRegistration) => AuthorizationRefusal | undefined

/** Checks the request line by line and reads it. A refusal is a value: it has `error`. */
export const parseAuthorizationRequest = (
  parameters: Parameters,
  client: ClientRegistration,
): AuthorizationRequest | AuthorizationRefusal => {
  for (const check of checks) {
    const refusal = check(parameters, client)
    if (refusal) return refusal
  }
  const code_challenge = parameters.get('code_challenge')
  return {
    scope: joinScope(askedScope(parameters) ?? client.scope),
    resource: parameters.all('resource'),
    ...(code_challenge === undefined ? {} : { code_challenge }),
  }
}

const refuse = (error: AuthorizationErrorCode, description: string): AuthorizationRefusal => ({ error, description })

/** RFC 8707 section 2 lets `resource` repeat; nothing else may (RFC 6749 section 3.1). */
const refuseFaults: Check = ({ faults }) => {
  for (const [name, fault] of faults) {
    if (fault === 'malformed') return refuse('invalid_request', 'A parameter is not percent-encoded UTF-8.')
    if (name !== 'resource') return refuse('invalid_request', 'A parameter was sent more than once.')
  }
  return undefined
}

const refuseRequestObjects: Check = parameters => {
  if (parameters.get('request') !== undefined) {
    return refuse('request_not_supported', 'Request objects are not supported.')
  }
  if (parameters.get('request_uri') !== undefined) {
    return refuse('request_uri_not_supported', 'Request objects are not supported.')
  }
  return undefined
}

const requireCode: Check = parameters => {
  const type = parameters.get('response_type')
  if (type === undefined) return refuse('invalid_request', 'response_type is missing.')
  return type === 'code' ? undefined : refuse('unsupported_response_type', 'The only response_type is code.')
}

const requireRegisteredGrant: Check = (_parameters, client) =>
  client.grant_types.includes('authorization_code')
    ? undefined
    : refuse('unauthorized_client', 'The client is not registered for authorization codes.')

const requireQueryMode: Check = parameters =>
  (parameters.get('response_mode') ?? 'query') === 'query'
    ? undefined
    : refuse('invalid_request', 'The only response_mode is query.')

const requirePkce: Check = (parameters, client) => {
  const challenge = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method')
  if (challenge === undefined) {
    if (client.pkce === 'optional' && method === undefined) return undefined
    return refuse('invalid_request', 'code_challenge is missing.')
  }
  // An absent method means plain (RFC 7636 section 4.3), which shows the verifier to whoever sees the request.
  if (method !== 'S256') return refuse('invalid_request', 'code_challenge_method must be S256.')
  return /^[A-Za-z0-9_-]{43}$/.test(challenge)
    ? undefined
    : refuse('invalid_request', 'code_challenge must be 43 characters of base64url: the SHA-256 of the verifier.')
}

const requireRegisteredScope: Check = (parameters, client) => {
  const asked = askedScope(parameters)
  if (asked === undefined) return undefined
  return asked.length > 0 && asked.every(name => client.scope.includes(name))
    ? undefined
    : refuse('invalid_scope', 'A scope is unknown or not registered for this client.')
}

/** In characters: twice what clients are known to send. It is kept until the person has answered, and nobody has proven
 * anything yet. */
const longestState = 4096

const refuseLongState: Check = parameters =>
  (parameters.get('state')?.length ?? 0) > longestState
    ? refuse('invalid_request', `state is longer than ${longestState} characters.`)
    : undefined

const requireReadableResource: Check = parameters =>
  areResources(parameters.all('resource')) ? undefined : refuse('invalid_target', `${resourceRule}.`)

/** No session is kept, so nobody is ever signed in beforehand (OpenID Connect Core section 3.1.2.1). */
const refuseSilence: Check = parameters =>
  parameters.get('prompt')?.split(' ').includes('none')
    ? refuse('login_required', 'Nobody can be signed in without a page.')
    : undefined

const checks: readonly Check[] = [
  refuseFaults,
  refuseRequestObjects,
  requireCode,
  requireRegisteredGrant,
  requireQueryMode,
  requirePkce,
  requireRegisteredScope,
  refuseLongState,
  requireReadableResource,
  refuseSilence,
]

/** Undefined where no scope was asked for; then all of the client's registered scope is meant. */
const askedScope = (parameters: Parameters): readonly string[] | undefined => {
  const text = parameters.get('scope')
  return text === undefined ? undefined : splitScope(text)
}
