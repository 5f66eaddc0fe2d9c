import type { ClientAuthFailureReason } from '../../errors.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { Parameters } from '../forms/parameters.ts'
import { areResources, type Guarded, resourceRule } from '../resource.ts'
import { joinScope, splitScope } from '../scope.ts'
import { singleParameters } from './parameter-values.ts'
import type { AuthorizationErrorCode } from './response.ts'

/** A valid authorization request whose redirect target was checked before. */
export interface AuthorizationRequest {
  /** Space-separated, as RFC 6749 section 3.3 writes it. */
  readonly scope: string
  /** RFC 8707 resources; empty means the issuer. */
  readonly resource: readonly string[]
  /** S256. Left out only by a client whose registration says `pkce: optional`. */
  readonly code_challenge?: string
  /** Thumbprint of the key that the code is to be bound to (RFC 9449 section 10). */
  readonly dpop_jkt?: string
  /** OpenID Connect Core section 3.1.2.1, for the login. */
  readonly acr_values?: string
  readonly ui_locales?: string
  readonly login_hint?: string
}

/** Why a request is refused. The client gets it in a redirect, or in the response if it pushed the request. */
export interface AuthorizationRefusal {
  readonly error: AuthorizationErrorCode
  readonly description: string
  /** Why a request object is invalid, for the operator's log. */
  readonly proofFault?: ClientAuthFailureReason | undefined
}

type Check = (parameters: Parameters, client: ClientRegistration, guarded: Guarded) => AuthorizationRefusal | undefined

/** Runs all checks on the request and parses it. A refusal is returned, not thrown: it has `error`. */
export const parseAuthorizationRequest = (
  parameters: Parameters,
  client: ClientRegistration,
  guarded: Guarded,
): AuthorizationRequest | AuthorizationRefusal => {
  for (const check of checks) {
    const refusal = check(parameters, client, guarded)
    if (refusal) return refusal
  }
  return {
    scope: joinScope(scopeParameter(parameters) ?? client.scope),
    resource: [...new Set(parameters.all('resource'))],
    ...readSent(parameters, optional),
  }
}

/** Optional parameters, stored in the interaction as sent. */
const optional = ['code_challenge', 'dpop_jkt', 'acr_values', 'ui_locales', 'login_hint'] as const

const readSent = <Name extends string>(
  parameters: Parameters,
  names: readonly Name[],
): { readonly [name in Name]?: string } => {
  const sent = names.map(name => [name, parameters.get(name)] as const)
  return Object.fromEntries(sent.filter(([, value]) => value !== undefined)) as { readonly [name in Name]?: string }
}

const refuse = (error: AuthorizationErrorCode, description: string): AuthorizationRefusal => ({ error, description })

/** RFC 8707 section 2 lets `resource` repeat. No other parameter may (RFC 6749 section 3.1). */
const refuseFaults: Check = ({ faults }) => {
  for (const [name, fault] of faults) {
    if (fault === 'malformed') return refuse('invalid_request', 'A parameter is not percent-encoded UTF-8.')
    if (name !== 'resource') return refuse('invalid_request', 'A parameter was sent more than once.')
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

/** A SHA-256 in base64url without padding. */
const sha256 = /^[A-Za-z0-9_-]{43}$/

const requirePkce: Check = (parameters, client) => {
  const challenge = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method')
  if (challenge === undefined) {
    if (client.pkce === 'optional' && method === undefined) return undefined
    return refuse('invalid_request', 'code_challenge is missing.')
  }
  // A missing method means plain (RFC 7636 section 4.3), and then the request itself reveals the verifier.
  if (method !== 'S256') return refuse('invalid_request', 'code_challenge_method must be S256.')
  return sha256.test(challenge)
    ? undefined
    : refuse('invalid_request', 'code_challenge must be 43 characters of base64url: the SHA-256 of the verifier.')
}

const requireRegisteredScope: Check = (parameters, client) => {
  const asked = scopeParameter(parameters)
  if (asked === undefined) return undefined
  return asked.length > 0 && asked.every(name => client.scope.includes(name))
    ? undefined
    : refuse('invalid_scope', 'A scope is unknown or not registered for this client.')
}

/**
 * Every response repeats `state` percent-encoded, and many servers and proxies accept little more than 8 KiB in one
 * line. A thousand characters of three bytes each fit.
 */
const maxEncodedStateBytes = 9216

/** Why a `state` cannot be sent back; undefined if it can. */
export const stateFault = (state = ''): string | undefined =>
  encodeURIComponent(state).length > maxEncodedStateBytes
    ? `state is longer than ${maxEncodedStateBytes} bytes, percent-encoded.`
    : undefined

const refuseLongState: Check = parameters => {
  const fault = stateFault(parameters.get('state'))
  return fault === undefined ? undefined : refuse('invalid_request', fault)
}

/** In bytes of UTF-8. */
const maxBytes = {
  scope: 4096,
  acr_values: 1024,
  ui_locales: 256,
  login_hint: 512,
  prompt: 128,
} as const
const maxTotalBytes = 8192

/** The parameters are stored until the user has answered, and nothing about the sender is authenticated yet. */
const refuseLongTexts: Check = parameters => {
  for (const [name, most] of Object.entries(maxBytes)) {
    if (Buffer.byteLength(parameters.get(name) ?? '') > most) {
      return refuse('invalid_request', `${name} is longer than ${most} bytes.`)
    }
  }
  const kept = [...singleParameters, 'resource'].flatMap(name => parameters.all(name))
  const bytes = kept.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return bytes > maxTotalBytes
    ? refuse('invalid_request', `The parameters together are longer than ${maxTotalBytes} bytes.`)
    : undefined
}

const requireKnownResource: Check = (parameters, _client, guarded) =>
  areResources(parameters.all('resource'), guarded) ? undefined : refuse('invalid_target', `${resourceRule}.`)

const requireThumbprint: Check = parameters => {
  const thumbprint = parameters.get('dpop_jkt')
  return thumbprint === undefined || sha256.test(thumbprint)
    ? undefined
    : refuse('invalid_request', 'dpop_jkt must be 43 characters of base64url: the SHA-256 thumbprint of a key.')
}

const checks: readonly Check[] = [
  refuseFaults,
  refuseLongState,
  refuseLongTexts,
  requireCode,
  requireRegisteredGrant,
  requireQueryMode,
  requirePkce,
  requireRegisteredScope,
  requireKnownResource,
  requireThumbprint,
]

/** Undefined if the request has no scope; then it asks for the whole registered scope of the client. */
const scopeParameter = (parameters: Parameters): readonly string[] | undefined => {
  const text = parameters.get('scope')
  return text === undefined ? undefined : splitScope(text)
}
