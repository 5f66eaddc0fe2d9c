import { OAuthError } from '../../errors.ts'
import { type MaybePromise, mapMaybe } from '../../oauth/functional.ts'
import type { Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { AuthenticationDeps, AuthenticationStep } from './authentication-step.ts'
import { readForm } from './oauth-form.ts'
import { toOAuthRequest } from './oauth-request.ts'

/** RFC 6749 section 2.3, for token, introspection and revocation: their form is read here, once. */
export const proveClient =
  (deps: AuthenticationDeps): AuthenticationStep =>
  (exchange, operation) =>
    mapMaybe(readForm(exchange), body =>
      body.kind === 'refused' ? body.outcome : proveForm(deps, exchange, operation, body.text),
    )

const proveForm = (
  { authorizationServer }: AuthenticationDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  body: string,
): MaybePromise<undefined> => {
  const request = toOAuthRequest(exchange, body)
  const form = authorizationServer.parseForm(request)
  const proven = refusalCounted(operation, 'client', () => authorizationServer.authenticate(form, request))
  return mapMaybe(proven, ({ client, pendingReplayChecks }) => {
    if (pendingReplayChecks.length === 0) operation.meter.credential('client', 'ok')
    exchange.oauth = { request, form }
    exchange.caller = { kind: 'client', client, pendingReplayChecks }
    return undefined
  })
}

/** Counts a client whose proof may have been used before, which is known once its request is answered. */
export const countWhenSettled = async <T>({ operation }: Exchange, answer: Promise<T>): Promise<T> => {
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
  (deps: AuthenticationDeps): AuthenticationStep =>
  (exchange, operation) => {
    const request = toOAuthRequest(exchange, '')
    const proven = refusalCounted(operation, 'query', () => deps.authorizationServer.authenticateQuery(request))
    return mapMaybe(proven, client => {
      operation.meter.credential('query', 'ok')
      exchange.oauth = { request }
      exchange.caller = { kind: 'client', client, pendingReplayChecks: [] }
      return undefined
    })
  }

/** Most proofs are judged at once, and then nothing waits for a turn of the event loop. */
const refusalCounted = <T>(
  operation: MeteredOperation,
  credential: string,
  prove: () => MaybePromise<T>,
): MaybePromise<T> => {
  const count = (error: unknown): never => {
    if (error instanceof OAuthError) operation.meter.credential(credential, 'refused')
    throw error
  }
  try {
    const proven = prove()
    return proven instanceof Promise ? proven.catch(count) : proven
  } catch (error) {
    return count(error)
  }
}
