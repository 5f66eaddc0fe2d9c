import { OAuthError } from '../../errors.ts'
import { type MaybePromise, mapMaybe } from '../../oauth/functional.ts'
import type { Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { AuthenticationDeps, AuthenticationStep } from './authentication-step.ts'
import { readForm } from './oauth-form.ts'
import { toOAuthRequest } from './oauth-request.ts'

/**
 * Authenticates the client (RFC 6749 section 2.3) at the token, introspection and revocation endpoints. Their form is
 * read here, once.
 */
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

/** Counts a client whose proof may have been used before: that is known only after its request has been answered. */
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

/** Whether the error refuses the client's proof, and not its request. */
export const isForProof = ({ code }: OAuthError): boolean => code === 'invalid_client' || code === 'rate_limit_exceeded'

/**
 * Authenticates the client by `client_id` and `client_secret` in the query string, which the published interface
 * prescribes for its metadata operation.
 */
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

/**
 * Counts a refused credential. Most proofs are verified synchronously, so this waits for no turn of the event loop
 * then.
 */
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
