import { OAuthError } from '../../errors.ts'
import { readBody } from '../../http/body.ts'
import type { Reply } from '../../http/reply.ts'
import type { AuthorizationServer } from '../../oauth/index.ts'
import type { ClientRegistration } from '../../oauth/options.ts'
import type { OAuthRequest } from '../../oauth/wire.ts'
import type { AccessTokenRecord } from '../../stores/ports.ts'
import type { Caller, Exchange, Outcome, Step } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { refuse } from '../refusal.ts'
import type { FailureLimit } from './failure-limit.ts'
import { hasSecretParameter } from './query-credentials.ts'

export interface CallerDeps {
  readonly authorizationServer: AuthorizationServer
  readonly findClient: (client_id: string) => ClientRegistration | undefined
  readonly issuer: string
  readonly failures: FailureLimit
}

/** OAuth bodies: RFC 9126 section 2.3 asks for a bound, `design.md` for these. */
const formLimits = { maxBytes: 64 * 1024, timeoutMs: 30_000 }
const realm = 'Bearer realm="sidegate"'

/** Step 2: who is calling. The proof is checked before anything is charged or done: 400, 401, 403, 429. */
export const proveCaller = (deps: CallerDeps): Step => {
  const byKind = {
    bearer: proveBearer(deps),
    client: proveClient(deps),
    query: proveQuery(deps),
    none: acceptAnybody(deps),
  }
  return exchange => {
    const { operation } = exchange
    if (operation === undefined) return refuse(exchange, 'NOT_FOUND')
    return byKind[operation.credentials](exchange, operation)
  }
}

type CallerStep = (exchange: Exchange, operation: MeteredOperation) => Outcome | Promise<Outcome>

/** RFC 6750 section 2.1; a bearer token in the query is refused (RFC 9700 section 4.3.2). */
const proveBearer =
  (deps: CallerDeps): CallerStep =>
  (exchange, operation) => {
    const { authorization } = exchange.context.fields
    if (hasSecretParameter(exchange.target?.query ?? '')) return malformedBearer(exchange)
    const [line] = authorization
    if (line === undefined) return missingBearer(exchange)
    const token = authorization.length === 1 ? bearerToken(line) : undefined
    if (token === undefined) {
      return authorization.length === 1 && !isBearer(line) ? missingBearer(exchange) : malformedBearer(exchange)
    }
    const record = deps.authorizationServer.verifyAccessToken(token)
    if (record instanceof Promise) return record.then(found => acceptToken(deps, exchange, operation, found))
    return acceptToken(deps, exchange, operation, record)
  }

/** The token68 of an `Authorization: Bearer` line, whose scheme is matched in any case; undefined where malformed. */
const bearerToken = (line: string): string | undefined => {
  if (line.length < 8 || line.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = line.slice(7).trim()
  return /^[A-Za-z0-9._~+/-]+=*$/.test(token) ? token : undefined
}

/** RFC 6750 section 3.1: whoever used another scheme is told which one is wanted, as if it had sent nothing. */
const isBearer = (line: string): boolean => /^bearer(?: |$)/i.test(line)

const missingBearer = (exchange: Exchange): Reply => {
  exchange.operation?.meter.credential('bearer', 'missing')
  return refuse(exchange, 'CREDENTIAL_MISSING', { headers: ['www-authenticate', realm] })
}

const malformedBearer = (exchange: Exchange): Reply => {
  exchange.operation?.meter.credential('bearer', 'refused')
  return refuse(exchange, 'CREDENTIAL_MALFORMED', {
    headers: ['www-authenticate', `${realm}, error="invalid_request"`],
  })
}

const acceptToken = (
  deps: CallerDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  token: AccessTokenRecord | undefined,
): Outcome | Promise<Outcome> => {
  const client = token && deps.findClient(token.client_id)
  if (token === undefined || client === undefined || !isAudience(token, operation, deps.issuer)) {
    return refuseToken(deps, exchange, operation)
  }
  if (!hasScopes(token.scope, operation.scopes)) {
    operation.meter.credential('bearer', 'refused')
    const scope = operation.scopes.join(' ')
    return refuse(exchange, 'SCOPE_INSUFFICIENT', {
      headers: ['www-authenticate', `${realm}, error="insufficient_scope", scope="${scope}"`],
    })
  }
  operation.meter.credential('bearer', 'ok')
  exchange.caller = { kind: 'token', client, token }
  return undefined
}

/** A token that is not good. Whoever keeps trying them from one address is told to wait; good tokens never are. */
const refuseToken = async (deps: CallerDeps, exchange: Exchange, operation: MeteredOperation): Promise<Outcome> => {
  operation.meter.credential('bearer', 'refused')
  const waitMs = await deps.failures.countAddress(exchange.context.address)
  if (waitMs > 0) return refuse(exchange, 'TOO_MANY_FAILURES', { headers: retryAfter(waitMs) })
  return refuse(exchange, 'CREDENTIAL_INVALID', {
    headers: [
      'www-authenticate',
      `${realm}, error="invalid_token", error_description="expired, revoked or not issued here"`,
    ],
  })
}

const isAudience = (token: AccessTokenRecord, operation: MeteredOperation, issuer: string): boolean => {
  const { aud } = token
  const resource = operation.target.kind === 'forward' ? operation.target.resource : issuer
  return typeof aud === 'string' ? aud === issuer || aud === resource : aud.includes(issuer) || aud.includes(resource)
}

const hasScopes = (granted: string, needed: readonly string[]): boolean => {
  if (needed.length === 0) return true
  if (needed.length === 1 && granted === needed[0]) return true
  const scopes = granted.split(' ')
  return needed.every(scope => scopes.includes(scope))
}

/** RFC 6749 section 2.3, for token, introspection and revocation: their form is read here, once. */
const proveClient =
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
const proveQuery =
  (deps: CallerDeps): CallerStep =>
  async (exchange, operation) => {
    const request = toOAuthRequest(exchange, '')
    const client = await counted(operation, 'query', () => deps.authorizationServer.authenticateQuery(request))
    exchange.oauth = { request, form: undefined }
    exchange.caller = { kind: 'client', client }
    return undefined
  }

type FormBody =
  | { readonly kind: 'body'; readonly text: string }
  | { readonly kind: 'refused'; readonly outcome: Outcome }

const noBody: FormBody = { kind: 'body', text: '' }

/** The body of an OAuth request, read whole within its limits: else 413, 408, or nothing where the client has gone. */
const readForm = async (exchange: Exchange): Promise<FormBody> => {
  const { req, res, fields } = exchange.context
  if (fields.transferEncoding === undefined && (fields.contentLength ?? '0') === '0') return noBody
  if (fields.expect !== undefined) res.writeContinue()
  const body = await readBody(req, fields.contentLength, formLimits)
  switch (body.kind) {
    case 'body':
      return body
    case 'too_large':
      return { kind: 'refused', outcome: refuse(exchange, 'BODY_TOO_LARGE') }
    case 'too_slow':
      return { kind: 'refused', outcome: refuse(exchange, 'REQUEST_TIMEOUT') }
    case 'aborted':
      return { kind: 'refused', outcome: 'gone' }
  }
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

/** Nothing is asked for. An authorization request names its client, whose plan it is charged to. */
const acceptAnybody =
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

const toOAuthRequest = (exchange: Exchange, body: string): OAuthRequest => {
  const { req, fields, address } = exchange.context
  return {
    method: req.method ?? '',
    path: exchange.target?.path ?? '',
    query: exchange.target?.query ?? '',
    body,
    contentType: fields.contentType,
    authorization: fields.authorization,
    cookie: fields.cookie,
    accept: fields.accept,
    origin: fields.origin,
    address,
  }
}

/** RFC 9110 section 10.2.3: whole seconds, rounded up so that a request sent then gets in. */
const retryAfter = (waitMs: number): readonly string[] => ['retry-after', String(Math.max(1, Math.ceil(waitMs / 1000)))]
