import { parseJws } from '../client-keys/jws.ts'
import { type Form, readValidPairs } from '../forms/form.ts'
import type { OAuthRequest } from '../protocol.ts'
import { parseBasic } from './basic-credentials.ts'
import { invalidRequest, unauthenticated } from './client-auth-errors.ts'
import type { ClientAuthMethod } from './metadata.ts'

/** Client credentials as sent, not verified yet. */
export type PresentedCredentials = PresentedSecret | PresentedAssertion | PresentedName

export interface PresentedSecret {
  readonly kind: 'secret'
  readonly client_id: string
  readonly client_secret: string
  /** `query`: any client with a secret may use it. */
  readonly method: ClientAuthMethod | 'query'
}

/** RFC 7523 section 2.2. */
export interface PresentedAssertion {
  readonly kind: 'assertion'
  /** The `sub` of the assertion. */
  readonly client_id: string
  readonly assertion: string
}

/** A client_id alone: of a public client, or of a client that its certificate authenticates. */
export interface PresentedName {
  readonly kind: 'name'
  readonly client_id: string
}

/**
 * The credentials of a request. A certificate does not count as a mechanism here: it may be on the connection only so
 * that tokens are bound to it.
 * @throws OAuthError invalid_request for two mechanisms at once (RFC 6749 section 2.3), invalid_client for none
 */
export const readPresented = (form: Form, authorization: readonly string[]): PresentedCredentials => {
  const client_id = form.get('client_id')
  const client_secret = form.get('client_secret')
  const hasAssertion = form.get('client_assertion') !== undefined || form.get('client_assertion_type') !== undefined
  requireOneMechanism(authorization, client_secret !== undefined, hasAssertion)
  const header = authorization[0]
  if (header !== undefined) return readBasic(header, 'client_secret_basic')
  if (hasAssertion) return readAssertion(form)
  if (client_id === undefined) throw unauthenticated()
  if (client_secret === undefined) return { kind: 'name', client_id }
  return { kind: 'secret', client_id, client_secret, method: 'client_secret_post' }
}

/** The same for the metadata operation: a secret in the query string, or HTTP Basic. */
export const readQuerySecret = ({ query, authorization }: OAuthRequest): PresentedSecret => {
  const { client_id, client_secret } = readQueryCredentials(query)
  requireOneMechanism(authorization, client_id !== undefined || client_secret !== undefined)
  const header = authorization[0]
  if (header !== undefined) return readBasic(header, 'query')
  if (client_id === undefined || client_secret === undefined) throw unauthenticated()
  return { kind: 'secret', client_id, client_secret, method: 'query' }
}

const requireOneMechanism = (authorization: readonly string[], ...others: readonly boolean[]): void => {
  if (authorization.length + others.filter(Boolean).length > 1)
    throw invalidRequest('The client authenticates in more than one way')
}

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** An assertion that cannot be parsed names no client, so it is refused but not counted. */
const readAssertion = (form: Form): PresentedAssertion => {
  const assertion = form.get('client_assertion')
  if (assertion === undefined || form.get('client_assertion_type') !== jwtBearer) throw unauthenticated('malformed')
  const read = parseJws(assertion)
  if ('fault' in read) throw unauthenticated(read.fault)
  const client_id = read.payload.sub
  if (typeof client_id !== 'string') throw unauthenticated('subject')
  return { kind: 'assertion', client_id, assertion }
}

interface QueryCredentials {
  readonly client_id: string | undefined
  readonly client_secret: string | undefined
}

/** A member is undefined if its parameter is absent or empty. Other parameters are ignored, but must be well-formed. */
const readQueryCredentials = (query: string): QueryCredentials => {
  const ids: string[] = []
  const secrets: string[] = []
  readValidPairs(query, (name, value) => {
    if (name === 'client_id') ids.push(value)
    if (name === 'client_secret') secrets.push(value)
  })
  if (ids.length > 1 || secrets.length > 1) throw invalidRequest('A parameter was sent more than once')
  return { client_id: ids[0] || undefined, client_secret: secrets[0] || undefined }
}

const readBasic = (header: string, method: PresentedSecret['method']): PresentedSecret => {
  const basic = parseBasic(header)
  // A header that cannot be parsed is no guess of a secret, so it is refused but not counted.
  if (!basic) throw unauthenticated('malformed')
  return { kind: 'secret', ...basic, method }
}
