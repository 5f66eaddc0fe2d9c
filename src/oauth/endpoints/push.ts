import { OAuthError } from '../../errors.ts'
import { toParameterValues } from '../authorization/parameter-values.ts'
import { findRedirectTarget } from '../authorization/redirect-uri.ts'
import { type AuthorizationRefusal, parseAuthorizationRequest } from '../authorization/request.ts'
import type { ReadRequestObject } from '../authorization/request-object.ts'
import { newPushedId, toRequestUri } from '../authorization/request-uri.ts'
import { signatureRequired } from '../authorization/resolve-request.ts'
import { type ClientRegistration, isConfidential, isFapiClient } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Form } from '../forms/form.ts'
import type { Parameters } from '../forms/parameters.ts'
import { refuseWhenCrowded } from '../limits.ts'
import type { OAuthRequest } from '../protocol.ts'
import type { ProofCheck } from '../sender-constraint/dpop-proof-check.ts'
import { provePushedKey } from '../sender-constraint/par-binding.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * The pushed authorization request endpoint (RFC 9126 section 2).
 *
 * Everything that can be checked about an authorization request is checked now. The stored request is valid, and only
 * its request_uri passes through the browser.
 * @throws OAuthError with the code of RFC 6749 section 4.1.2.1, RFC 9101 section 7 or RFC 9449 section 10.1;
 * StoreUnavailableError
 */
export const createPush = (deps: OAuthDeps, readObject: ReadRequestObject, checkProof: ProofCheck): Endpoint => {
  const { options, store, clock, starts } = deps
  const { lifetimeSec } = options.par

  const readParameters = async (
    form: Form,
    client: ClientRegistration,
    { address }: OAuthRequest,
  ): Promise<Parameters> => {
    if (form.get('request_uri') !== undefined) throw new OAuthError('invalid_request', 'A request_uri cannot be pushed')
    const request = form.get('request')
    if (request !== undefined) return accept(await readObject(request, client, address))
    if (client.require_signed_request_object) throw toError(signatureRequired)
    return asParameters(form)
  }
  const check = (parameters: Parameters, client: ClientRegistration): void => {
    requireRedirect(parameters, client, isFapiClient(client, options))
    accept(parseAuthorizationRequest(parameters, client, options))
  }

  return async (form, client, query, request) => {
    const parameters = await readParameters(form, client, request)
    check(parameters, client)
    const isUnproven = !isConfidential(client)
    if (isUnproven) refuseWhenCrowded(await starts.take('push', request.address))
    const { jkt, headers, pendingReplayChecks } = provePushedKey(checkProof, request, parameters.get('dpop_jkt'))
    const pushedId = newPushedId()
    const values = { ...toParameterValues(parameters), ...(jkt !== undefined && { dpop_jkt: jkt }) }
    const pushed = { client_id: client.client_id, parameters: values, ...(isUnproven && { isUnproven }) }
    const untilMs = clock.nowMs() + lifetimeSec * 1000
    const removed = await query(
      () => store.pushed.create(pushedId, pushed, untilMs, options.maxInteractions),
      pendingReplayChecks,
    )
    return {
      status: 201,
      headers: { 'cache-control': 'no-store', ...headers },
      body: { request_uri: toRequestUri(pushedId), expires_in: lifetimeSec },
      facts: {
        client_id: client.client_id,
        ...(removed > 0 && { shed: { kind: 'pushed_request', count: removed } }),
      },
    }
  }
}

/** Returns a value that is not a refusal. A refusal is thrown: no browser is involved, so it is the response itself. */
const accept = <T extends object>(read: T | AuthorizationRefusal): T => {
  if ('error' in read) throw toError(read)
  return read
}

const toError = ({ error, description, proofFault }: AuthorizationRefusal): OAuthError =>
  new OAuthError(error, description, { proofFault })

/** `parseForm` has already refused malformed and repeated parameters. */
const asParameters = (form: Form): Parameters => ({
  get: name => form.get(name),
  all: name => (name === 'resource' ? form.resources : [form.get(name) ?? []].flat()),
  faults: new Map(),
})

/** FAPI 2.0 Security Profile section 5.3.2.2 requires redirect_uri even if the client has registered only one. */
const requireRedirect = (parameters: Parameters, client: ClientRegistration, mustBeSent: boolean): void => {
  const target = findRedirectTarget(client, parameters.get('redirect_uri'))
  if (!target || (mustBeSent && !target.redirectUriSent)) {
    throw new OAuthError('invalid_request', 'The redirect_uri is missing or is not registered for this client')
  }
}
