import { proofAlgs } from '../../oauth/sender-constraint/dpop-proof.ts'
import type { Target } from '../operation.ts'

/** The schemes in which an access token can be sent: RFC 6750 section 2.1, RFC 9449 section 7.1. */
export type TokenScheme = 'Bearer' | 'DPoP'

/**
 * The error of a challenge; its values have no quotes and no backslashes. Left out if the request had no credentials.
 */
export interface ChallengeError {
  readonly error: 'invalid_request' | 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce'
  readonly error_description?: string
  readonly scope?: string
}

type Guarded = { readonly target: Target } | undefined

/** The `WWW-Authenticate` of a response to a request in this scheme, as name and value. */
export const challenge = (operation: Guarded, scheme: TokenScheme, error?: ChallengeError): readonly string[] => [
  'www-authenticate',
  `${scheme} ${toParameters({ realm: 'sidegate', ...error, ...schemeParameters[scheme], ...metadataOf(operation) })}`,
]

/**
 * The challenges of a 401: the error in the scheme that the client used, and the other scheme, which is accepted too.
 */
export const challenges = (operation: Guarded, scheme: TokenScheme, error?: ChallengeError): readonly string[] => [
  ...challenge(operation, scheme, error),
  ...challenge(operation, scheme === 'Bearer' ? 'DPoP' : 'Bearer'),
]

/** RFC 9449 section 7.1. */
const schemeParameters = { Bearer: {}, DPoP: { algs: proofAlgs.join(' ') } } as const satisfies Record<
  TokenScheme,
  object
>

/** RFC 9728 section 5.1. */
const metadataOf = (operation: Guarded): Readonly<Record<string, string>> =>
  operation && 'resource' in operation.target && operation.target.metadataUrl !== undefined
    ? { resource_metadata: operation.target.metadataUrl }
    : {}

const toParameters = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')
