import { type MaybePromise, mapMaybe } from '../../oauth/functional.ts'
import type { OAuthRequest } from '../../oauth/protocol.ts'
import { refuse } from '../error-response.ts'
import type { Caller, Exchange, Outcome } from '../exchange.ts'
import type { AuthenticationDeps, AuthenticationStep } from './authentication-step.ts'
import { readForm } from './oauth-form.ts'
import { toOAuthRequest } from './oauth-request.ts'
import { hasSecretParameter } from './query-credentials.ts'

/** Asks for no credentials. An authorization request names its client, whose plan is charged. */
export const acceptAnonymous =
  (deps: AuthenticationDeps): AuthenticationStep =>
  (exchange, operation) => {
    if (operation.target.kind === 'serve') return acceptForm(deps, exchange, operation.target.serves)
    if (hasSecretParameter(exchange.target?.query ?? '')) return refuse(exchange, 'CREDENTIAL_MALFORMED')
    exchange.caller = unknownCaller
    return undefined
  }

const acceptForm = (deps: AuthenticationDeps, exchange: Exchange, serves: string): MaybePromise<Outcome> =>
  mapMaybe(readForm(exchange), body => {
    if (body.kind === 'refused') return body.outcome
    const request = toOAuthRequest(exchange, body.text)
    if (serves === 'authorize') return acceptAuthorization(deps, exchange, request)
    exchange.oauth = { request }
    exchange.caller = unknownCaller
    return undefined
  })

/** The parameters are parsed here once, and the step that answers the request uses them. */
const acceptAuthorization = (
  { authorizationServer }: AuthenticationDeps,
  exchange: Exchange,
  request: OAuthRequest,
): undefined => {
  const parameters = authorizationServer.parseParameters(request)
  const named = authorizationServer.namedClient(parameters)
  exchange.oauth = { request, parameters }
  exchange.caller = named ? { kind: 'unknown', named } : unknownCaller
  return undefined
}

const unknownCaller: Caller = { kind: 'unknown', named: undefined }
