import { type ClientAuthFailureReason, OAuthError } from '../../errors.ts'
import type { KeySource } from '../client-keys/key-source.ts'
import type { ClientKeyring } from '../client-keys/keyring.ts'
import { type ClientJwtClaims, verifyClientJwt } from '../client-keys/verify-client-jwt.ts'
import { type ClientRegistration, isFapiClient } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters } from '../forms/parameters.ts'
import { type SigningAlg, strongSigningAlgs } from '../protocol.ts'
import { createProofThrottle, type ProofResult } from '../secrets/proof-throttle.ts'
import { type ParameterValues, singleParameters, toParameters } from './parameter-values.ts'
import type { AuthorizationRefusal } from './request.ts'

/**
 * Reads a signed request object (RFC 9101): its parameters, or the reason why it is refused. A request object may be
 * sent again until it expires, because a browser may reload the page. Only the code that it leads to is single-use.
 * @param address the address that invalid request objects are counted under
 * @throws OAuthError rate_limit_exceeded after too many invalid ones; temporarily_unavailable if the client's keys
 * cannot be fetched
 */
export type ReadRequestObject = (
  request: string,
  client: ClientRegistration,
  address: string,
) => Promise<Parameters | AuthorizationRefusal>

export const createRequestObjects = (deps: OAuthDeps, keyring: ClientKeyring): ReadRequestObject => {
  const { options, clock } = deps
  const { run } = createProofThrottle(deps)

  const verify = (request: string, client: ClientRegistration, keys: KeySource): ProofResult<ClientJwtClaims> => {
    const isFapi = isFapiClient(client, options)
    return verifyClientJwt(request, keys, {
      algs: algsOf(client, isFapi),
      typ: 'oauth-authz-req+jwt',
      iss: client.client_id,
      audiences: [options.issuer],
      takesAudienceList: true,
      maxLifetimeSec: isFapi ? longestLifeSec : Number.POSITIVE_INFINITY,
      nowMs: clock.nowMs(),
      // The sub of a client assertion is the client_id, so an assertion cannot pass for a request object, nor the
      // reverse (RFC 9101 section 10.8).
      findFault: ({ sub }) => (sub === client.client_id ? 'wrong_jwt_type' : undefined),
    })
  }

  return async (request, client, address) => {
    const keys = keyring.find(client)
    if (!keys) return refuse('The client has no registered keys to sign requests with.')
    // Browsers send request objects. An invalid one must not stop the client itself from authenticating, so failures
    // are counted under a name of their own.
    const caller = { name: `request ${client.client_id}`, address, toRefusal: unproven }
    try {
      const claims = await run(caller, () => verify(request, client, keys))
      return readClaims(claims, client, isFapiClient(client, options), clock.nowMs())
    } catch (error) {
      if (!(error instanceof OAuthError) || error.code !== 'invalid_request_object') throw error
      return { ...refuse(error.message), proofFault: error.proofFault }
    }
  }
}

/** FAPI 2.0 Message Signing section 5.3.1: the maximum age of `nbf`, and the maximum time from `nbf` to `exp`. */
const longestLifeSec = 60 * 60

/** RS256 is accepted only from an old client that is registered for RS256. */
const algsOf = ({ request_object_signing_alg: pinned }: ClientRegistration, isFapi: boolean): readonly SigningAlg[] => {
  if (pinned === undefined) return strongSigningAlgs
  return isFapi ? strongSigningAlgs.filter(alg => alg === pinned) : [pinned]
}

const readClaims = (
  claims: ClientJwtClaims,
  client: ClientRegistration,
  isFapi: boolean,
  nowMs: number,
): Parameters | AuthorizationRefusal => {
  if (claims.client_id !== client.client_id) {
    return refuse('The client_id in the request object is missing or is not that of the client.')
  }
  if ('request' in claims || 'request_uri' in claims) {
    return refuse('A request object must not contain request or request_uri.')
  }
  if (isFapi && !isShortLived(claims, nowMs)) {
    return refuse('The request object must have an nbf, and an exp at most 60 minutes after it.')
  }
  const values = parseValues(claims)
  return values ? toParameters(values) : refuse('A parameter in the request object is not a string.')
}

const isShortLived = ({ nbf, exp }: ClientJwtClaims, nowMs: number): boolean =>
  typeof nbf === 'number' && nbf >= nowMs / 1000 - longestLifeSec && exp - nbf <= longestLifeSec

/** The claims that are parameters: strings (RFC 9101 section 4). Only `resource` may also be a list of strings. */
const parseValues = (claims: ClientJwtClaims): ParameterValues | undefined => {
  const values: Record<string, string | readonly string[]> = {}
  for (const name of singleParameters) {
    const value = claims[name] ?? ''
    if (!isText(value)) return undefined
    values[name] = value
  }
  const resource = [claims.resource ?? []].flat()
  return resource.every(isText) ? { ...values, resource } : undefined
}

/** A lone surrogate is not valid Unicode, so it could not be sent back in a redirect. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()

const refuse = (description: string): AuthorizationRefusal => ({ error: 'invalid_request_object', description })

const unproven = (proofFault: ClientAuthFailureReason): OAuthError =>
  new OAuthError('invalid_request_object', descriptions.get(proofFault) ?? unsigned, { proofFault })

/** The claims are checked before the signature, so these descriptions reveal nothing about the client's keys. */
const descriptions: ReadonlyMap<ClientAuthFailureReason, string> = new Map([
  ['wrong_jwt_type', 'The sub of a request object cannot be the client_id.'],
  ['audience', 'The aud of the request object is not the issuer of this server.'],
  ['expired', 'The request object has no exp, or has expired.'],
  ['nbf_in_future', 'The nbf or iat of the request object is in the future.'],
  ['lifetime_too_long', `The exp of the request object is more than ${longestLifeSec / 60} minutes from now.`],
])

const unsigned = 'The request object is not signed with a registered key and algorithm of this client.'
