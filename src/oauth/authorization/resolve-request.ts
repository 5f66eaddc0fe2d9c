import type { PushedRequestStore } from '../../stores/ports/pushed-requests.ts'
import { type ClientRegistration, isFapiClient } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters } from '../forms/parameters.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import type { OAuthOptions } from '../options.ts'
import { toParameters } from './parameter-values.ts'
import type { AuthorizationRefusal } from './request.ts'
import type { ReadRequestObject } from './request-object.ts'
import { isPushedUri, parsePushedId } from './request-uri.ts'

/** The parameters of a request, whether it sent them directly, in a request object, or by a request_uri. */
export interface ResolvedParameters {
  /**
   * `faults` are always those of the parameters as sent, even if the values come from a request object or a
   * request_uri.
   */
  readonly parameters: Parameters
  /** The id of the pushed request that held them. */
  readonly pushedId?: string
}

/**
 * Reads a request to the authorization endpoint: plain parameters, a signed request object (`request`, RFC 9101), or
 * the reference to a pushed request (`request_uri`, RFC 9126). Beside the latter two only the client_id counts; other
 * plain parameters are ignored (RFC 9101 section 6.3). A refusal is returned, not thrown: it has `error`.
 */
export type ResolveRequest = (
  sent: Parameters,
  client: ClientRegistration,
  address: string,
) => MaybePromise<ResolvedParameters | AuthorizationRefusal>

export const createRequestResolver =
  ({ options, store }: OAuthDeps, readObject: ReadRequestObject): ResolveRequest =>
  (sent, client, address) => {
    const [request, request_uri] = [sent.get('request'), sent.get('request_uri')]
    if (request !== undefined && request_uri !== undefined) return bothSent
    if (request_uri !== undefined) return readPushed(store.pushed, request_uri, client, sent)
    if (mustPush(options, client)) return pushRequired
    if (request === undefined) return client.require_signed_request_object ? signatureRequired : { parameters: sent }
    return mapMaybe(readObject(request, client, address), signed =>
      'error' in signed ? signed : { parameters: { ...signed, faults: sent.faults } },
    )
  }

/** RFC 9126 sections 5 and 6; FAPI 2.0 Security Profile section 5.3.2.2. */
const mustPush = (options: OAuthOptions, client: ClientRegistration): boolean =>
  client.require_pushed_authorization_requests || isFapiClient(client, options)

const readPushed = async (
  pushed: PushedRequestStore,
  request_uri: string,
  client: ClientRegistration,
  sent: Parameters,
): Promise<ResolvedParameters | AuthorizationRefusal> => {
  if (!isPushedUri(request_uri)) return notPushed
  const pushedId = parsePushedId(request_uri)
  const found = pushedId === undefined ? undefined : await pushed.find(pushedId)
  if (pushedId === undefined || found?.client_id !== client.client_id) return unknownUri
  return { parameters: { ...toParameters(found.parameters), faults: sent.faults }, pushedId }
}

/** RFC 9101 section 5. */
const bothSent: AuthorizationRefusal = {
  error: 'invalid_request',
  description: 'request and request_uri cannot be sent together.',
}

const pushRequired: AuthorizationRefusal = {
  error: 'invalid_request',
  description: 'This client must push its authorization requests first (RFC 9126).',
}

/** RFC 9101 section 10.5. */
export const signatureRequired: AuthorizationRefusal = {
  error: 'invalid_request',
  description: 'This client must sign its authorization requests (RFC 9101).',
}

const notPushed: AuthorizationRefusal = {
  error: 'request_uri_not_supported',
  description: 'Only a request_uri from the pushed authorization request endpoint is supported.',
}

/** One description for every case, so that a client does not learn whether another client pushed this request. */
const unknownUri: AuthorizationRefusal = {
  error: 'invalid_request_uri',
  description: 'The request_uri is unknown, expired, used, or does not belong to this client.',
}
