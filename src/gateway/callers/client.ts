import { OAuthError } from '../../errors.ts'
import type { Exchange } from '../exchange.ts'
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
    const proven = await refusalCounted(operation, 'client', () => deps.authorizationServer.authenticate(form, request))
    if (proven.unspent.length === 0) operation.meter.credential('client', 'ok')
    exchange.oauth = { request, form }
    exchange.caller = { kind: 'client', ...proven }
    return undefined
  }

/** Counts a client whose proof may have been used before, which is known once its request is answered. */
export const countWhenAnswered = async <T>({ operation }: Exchange, answer: Promise<T>): Promise<T> => {
  try {
    const answered = await answer
    operation?.meter.credential('client', 'ok')
    return answered
  } catch (error) {
    if (error instanceof OAuthError) operation?.meter.credential('client', isForProof(error) ? 'refused' : 'ok')
    throw error
  }
}

/** Whether it is the client's proof that is refused, and not what it asks for. */
export const isForProof = ({ code }: OAuthError): boolean => code === 'invalid_client' || code === 'rate_limit_exceeded'

/** `client_id` and `client_secret` in the query string, as the published interface has it for its metadata operation. */
export const proveQuery =
  (deps: CallerDeps): CallerStep =>
  async (exchange, operation) => {
    const request = toOAuthRequest(exchange, '')
    const client = await refusalCounted(operation, 'query', () => deps.authorizationServer.authenticateQuery(request))
    operation.meter.credential('query', 'ok')
    exchange.oauth = { request, form: undefined }
    exchange.caller = { kind: 'client', client, unspent: [] }
    return undefined
  }

const refusalCounted = async <T>(
  operation: MeteredOperation,
  credential: string,
  prove: () => T | Promise<T>,
): Promise<T> => {
  try {
    return await prove()
  } catch (error) {
    if (error instanceof OAuthError) operation.meter.credential(credential, 'refused')
    throw error
  }
}
