import { OAuthError } from '../../errors.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Form } from '../forms/form.ts'
import { parsePairs } from '../forms/urlencoded.ts'
import type { ClientAuthMethod, ClientRegistration } from '../options.ts'
import { type MaybePromise, whenKnown } from '../when-known.ts'
import type { OAuthRequest } from '../wire.ts'
import { parseBasic } from './basic-credentials.ts'
import { createSecretCheck } from './client-secret.ts'

/** Client authentication (RFC 6749 section 2.3). */
export interface ClientAuth {
  /**
   * The client that the request proves to be, by its registered method and no other.
   * @throws OAuthError invalid_request for two mechanisms at once or a client_id that is another's; invalid_client for
   * no, malformed or wrong credentials; rate_limit_exceeded after too many wrong ones
   */
  authenticate(form: Form, request: OAuthRequest): MaybePromise<ClientRegistration>
  /** The same for the metadata operation: secret in the query string or HTTP Basic, whatever method is registered. */
  authenticateQuery(request: OAuthRequest): MaybePromise<ClientRegistration>
}

/** A secret somebody presented, not yet proven to be the client's. */
interface PresentedSecret {
  readonly client_id: string
  readonly client_secret: string
  /** `query`: serves every client that has a secret. */
  readonly method: ClientAuthMethod | 'query'
}

export const createClientAuth = ({ options, clients, failures }: OAuthDeps): ClientAuth => {
  const checkSecret = createSecretCheck(options.clients)

  const proveSecret = (presented: PresentedSecret, address: string): MaybePromise<ClientRegistration> => {
    const name = presented.client_id.slice(0, longestName)
    return failures.inTurn(name, address, () => checkProof(presented, name, address))
  }
  const checkProof = (presented: PresentedSecret, name: string, address: string): MaybePromise<ClientRegistration> => {
    refuseWhenLimited(failures.blockedMs(name, address))
    const client = clients.find(presented.client_id)
    const candidate = client && mayUse(client, presented.method) ? client : undefined
    return whenKnown(checkSecret(candidate, presented.client_secret), isRight =>
      isRight && candidate ? candidate : refuseProof(name, address),
    )
  }
  const refuseProof = async (name: string, address: string): Promise<never> => {
    refuseWhenLimited(await failures.count(name, address))
    throw unauthenticated()
  }
  const findPublic = (client_id: string | undefined): ClientRegistration => {
    const client = client_id === undefined ? undefined : clients.find(client_id)
    if (client?.token_endpoint_auth_method !== 'none') throw unauthenticated()
    return client
  }

  return {
    authenticate: (form, request) => {
      const presented = readSecret(form, request.authorization)
      if (!presented) return findPublic(form.get('client_id'))
      return whenKnown(proveSecret(presented, request.address), client => requireSameClient(client, form))
    },
    authenticateQuery: request => proveSecret(readQuerySecret(request), request.address),
  }
}

/** Names are counted in memory and in the store; a longer one is nobody's. */
const longestName = 256

/** The refusal of every failed authentication: always the same, so that it tells nothing (RFC 6749 section 5.2). */
export const unauthenticated = (): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', {
    headers: { 'www-authenticate': 'Basic realm="sidegate"' },
  })

const mayUse = (client: ClientRegistration, method: PresentedSecret['method']): boolean =>
  method === 'query' || client.token_endpoint_auth_method === method

/** The secret in header or body, or undefined where there is none: then a public client may stand behind it. */
const readSecret = (form: Form, authorization: readonly string[]): PresentedSecret | undefined => {
  const client_secret = form.get('client_secret')
  const hasAssertion = form.get('client_assertion') !== undefined || form.get('client_assertion_type') !== undefined
  const mechanisms = authorization.length + Number(client_secret !== undefined) + Number(hasAssertion)
  if (mechanisms > 1) throw invalidRequest('The client authenticates in more than one way')
  if (hasAssertion) throw unauthenticated()
  const header = authorization[0]
  if (header !== undefined) return readBasic(header, 'client_secret_basic')
  if (client_secret === undefined) return undefined
  const client_id = form.get('client_id')
  if (client_id === undefined) throw unauthenticated()
  return { client_id, client_secret, method: 'client_secret_post' }
}

const readQuerySecret = ({ query, authorization }: OAuthRequest): PresentedSecret => {
  const pairs = parsePairs(query)
  if (!pairs) throw invalidRequest('A parameter is not form-encoded UTF-8')
  const client_id = readOnce(pairs, 'client_id')
  const client_secret = readOnce(pairs, 'client_secret')
  const isInQuery = client_id !== undefined || client_secret !== undefined
  if (authorization.length + Number(isInQuery) > 1)
    throw invalidRequest('The client authenticates in more than one way')
  const header = authorization[0]
  if (header !== undefined) return readBasic(header, 'query')
  if (client_id === undefined || client_secret === undefined) throw unauthenticated()
  return { client_id, client_secret, method: 'query' }
}

/** A parameter's value; undefined where it is absent or empty. */
const readOnce = (pairs: readonly (readonly [string, string])[], name: string): string | undefined => {
  const values = pairs.filter(([found]) => found === name)
  if (values.length > 1) throw invalidRequest('A parameter was sent more than once')
  return values[0]?.[1] || undefined
}

const readBasic = (header: string, method: PresentedSecret['method']): PresentedSecret => {
  const basic = parseBasic(header)
  // Nothing was guessed at by a header that cannot be read: it is refused, not counted.
  if (!basic) throw unauthenticated()
  return { ...basic, method }
}

/** RFC 6749 section 3.2.1: a client_id in the body beside another proof must say the same. */
const requireSameClient = (client: ClientRegistration, form: Form): ClientRegistration => {
  const named = form.get('client_id')
  if (named !== undefined && named !== client.client_id) {
    throw invalidRequest('The client_id is not that of the authenticated client')
  }
  return client
}

const refuseWhenLimited = (waitMs: number): void => {
  if (waitMs <= 0) return
  const retryAfterSec = Math.ceil(waitMs / 1000) // RFC 9110 section 10.2.3: whole seconds
  throw new OAuthError('rate_limit_exceeded', 'Too many failed authentications from this address', {
    headers: { 'retry-after': String(retryAfterSec) },
  })
}

const invalidRequest = (description: string): OAuthError => new OAuthError('invalid_request', description)
