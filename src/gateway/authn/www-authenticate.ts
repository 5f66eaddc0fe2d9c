import { proofAlgs } from '../../oauth/sender-constraint/dpop-proof.ts'
import type { Target } from '../operation.ts'

/** How an access token can be sent: RFC 6750 section 2.1, RFC 9449 section 7.1. */
export type TokenScheme = 'Bearer' | 'DPoP'

/** What went wrong; values without quotes and backslashes. Left out: nothing was sent that could be wrong. */
export interface ChallengeError {
  readonly error: 'invalid_request' | 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce'
  readonly error_description?: string
  readonly scope?: string
}

type Guarded = { readonly target: Target } | undefined

/** The `WWW-Authenticate` of an answer to whoever used this scheme, as name and value. */
export const challenge = (operation: Guarded, scheme: TokenScheme, error?: ChallengeError): readonly string[] => [
  'www-authenticate',
  `${scheme} ${toParameters({ realm: 'sidegate', ...error, ...schemeParameters[scheme], ...metadataOf(operation) })}`,
]

/** The challenges of a 401: what was wrong with the scheme that was used, and that the other one would do too. */
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
