import type { Caller, Exchange, Outcome } from '../exchange.ts'
import { refuse } from '../refusal.ts'
import { readForm, toOAuthRequest } from './oauth-form.ts'
import type { CallerDeps, CallerStep } from './prove-caller.ts'
import { hasSecretParameter } from './query-credentials.ts'

/** Nothing is asked for. An authorization request names its client, whose plan it is charged to. */
export const acceptAnybody =
  (deps: CallerDeps): CallerStep =>
  (exchange, operation) => {
    if (operation.target.kind === 'serve') return acceptForm(deps, exchange, operation.target.serves)
    if (hasSecretParameter(exchange.target?.query ?? '')) return refuse(exchange, 'CREDENTIAL_MALFORMED')
    exchange.caller = unknownCaller
    return undefined
  }

const acceptForm = async (deps: CallerDeps, exchange: Exchange, serves: string): Promise<Outcome> => {
  const body = await readForm(exchange)
  if (body.kind === 'refused') return body.outcome
  const request = toOAuthRequest(exchange, body.text)
  const named = serves === 'authorize' ? deps.authorizationServer.namedClient(request) : undefined
  exchange.oauth = { request, form: undefined }
  exchange.caller = named ? { kind: 'unknown', named } : unknownCaller
  return undefined
}

const unknownCaller: Caller = { kind: 'unknown', named: undefined }
