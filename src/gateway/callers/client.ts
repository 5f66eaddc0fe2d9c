import { OAuthError } from '../../errors.ts'
import type { ClientRegistration } from '../../oauth/options.ts'
import type { MeteredOperation } from '../meter.ts'
import { readForm, toOAuthRequest } from './oauth-form.ts'
import type { CallerDeps, CallerStep } from './prove-caller.ts'

/** RFC 6749 section 2.3, for token, introspection and revocation: their form is read here, once. */
export const proveClient =
  (deps: CallerDeps): CallerStep =>
  async (exchange, operation) => {
    const body = await readForm(exchange)
    if (body.kind === 'refused') return body.outcome
    const request = toOAuthRequest(exchange, body.text)
    const form = deps.authorizationServer.parseForm(request)
    const client = await counted(operation, 'client', () => deps.authorizationServer.authenticate(form, request))
    exchange.oauth = { request, form }
    exchange.caller = { kind: 'client', client }
    return undefined
  }

/** `client_id` and `client_secret` in the query string, as the published interface has it for its metadata operation. */
export const proveQuery =
  (deps: CallerDeps): CallerStep =>
  async (exchange, operation) => {
    const request = toOAuthRequest(exchange, '')
    const client = await counted(operation, 'query', () => deps.authorizationServer.authenticateQuery(request))
    exchange.oauth = { request, form: undefined }
    exchange.caller = { kind: 'client', client }
    return undefined
  }

const counted = async (
  operation: MeteredOperation,
  credential: string,
  prove: () => ClientRegistration | Promise<ClientRegistration>,
): Promise<ClientRegistration> => {
  try {
    const client = await prove()
    operation.meter.credential(credential, 'ok')
    return client
  } catch (error) {
    if (error instanceof OAuthError) operation.meter.credential(credential, 'refused')
    throw error
  }
}
