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
 * Reads a signed request object (RFC 9101): the parameters it holds, or why it counts for nothing. It may be shown
 * again while it lasts: a browser reloads the page it came with, and what may be used once is the code.
 * @param address whoever keeps sending bad ones from it is told to wait
 * @throws OAuthError rate_limit_exceeded after too many bad ones; temporarily_unavailable where the client's keys cannot
 * be had
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
      // An assertion says that, so nobody may show the one for the other (RFC 9101 section 10.8).
      findFault: ({ sub }) => (sub === client.client_id ? 'wrong_jwt_type' : undefined),
    })
  }

  return async (request, client, address) => {
    const keys = keyring.find(client)
    if (!keys) return refuse('This client has registered no keys to sign requests with.')
    // Browsers send these: what they do wrong must not keep the client itself from proving who it is.
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

/** FAPI 2.0 Message Signing section 5.3.1: of `nbf` and of what is between it and `exp`. */
const longestLifeSec = 60 * 60

/** RS256 only for an old client that is registered with it by name. */
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
    return refuse('The client_id in the request object is missing, or not that of the client.')
  }
  if ('request' in claims || 'request_uri' in claims) return refuse('A request object cannot hold another.')
  if (isFapi && !isShortLived(claims, nowMs)) {
    return refuse('The request object needs an nbf, and an exp at most 60 minutes after it.')
  }
  const values = parseValues(claims)
  return values ? toParameters(values) : refuse('A parameter in the request object is no text.')
}

const isShortLived = ({ nbf, exp }: ClientJwtClaims, nowMs: number): boolean =>
  typeof nbf === 'number' && nbf >= nowMs / 1000 - longestLifeSec && exp - nbf <= longestLifeSec

/** The claims that are parameters: texts (RFC 9101 section 4), and a list of them where one may repeat. */
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

/** Half a surrogate pair is no Unicode: it could not be sent back in a redirect. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()

const refuse = (description: string): AuthorizationRefusal => ({ error: 'invalid_request_object', description })

const unproven = (proofFault: ClientAuthFailureReason): OAuthError =>
  new OAuthError('invalid_request_object', descriptions.get(proofFault) ?? unsigned, { proofFault })

/** The claims are checked before the signature, so these sentences tell nothing about the keys of the client. */
const descriptions: ReadonlyMap<ClientAuthFailureReason, string> = new Map([
  ['wrong_jwt_type', 'The sub of a request object cannot be the client_id.'],
  ['audience', 'The aud of the request object is not the issuer of this server.'],
  ['expired', 'The request object has no exp, or has expired.'],
  ['nbf_in_future', 'The nbf or iat of the request object is in the future.'],
  ['lifetime_too_long', `The exp of the request object is more than ${longestLifeSec / 60} minutes from now.`],
])

const unsigned = 'The request object is not signed by this client as it is registered.'
