import { type BodyOutcome, readBody } from '../../http/body.ts'
import { expectsContinue, type RequestContext } from '../../http/context.ts'
import { fieldValues } from '../../http/server/request-parser.ts'
import type { MaybePromise } from '../../oauth/when-known.ts'
import type { ClientCertificate, OAuthRequest } from '../../oauth/wire.ts'
import { type Exchange, methodOf, type Outcome } from '../exchange.ts'
import { refuse } from '../refusal.ts'

/** OAuth bodies are small and come at once; RFC 9126 section 2.3 asks for a bound. */
const formLimits = { maxBytes: 64 * 1024, timeoutMs: 30_000 }

/** The body of an OAuth request, or what answers it instead. */
export type FormBody =
  | { readonly kind: 'body'; readonly text: string }
  | { readonly kind: 'refused'; readonly outcome: Outcome }

const noBody: FormBody = { kind: 'body', text: '' }

/** The body of an OAuth request, read whole within its limits: else 413, 408, or nothing where the client has gone. */
export const readForm = (exchange: Exchange): MaybePromise<FormBody> => {
  const { request, response } = exchange.context
  // What follows a WebSocket handshake is not a body.
  if (exchange.isUpgrade || request.body === undefined) return noBody
  if (expectsContinue(exchange.context)) response.writeContinue()
  const body = readBody(request, response, formLimits)
  return body instanceof Promise ? body.then(read => toFormBody(exchange, read)) : toFormBody(exchange, body)
}

const toFormBody = (exchange: Exchange, body: BodyOutcome): FormBody => {
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

/** The request as the authorization server sees it. What most requests are never asked for is read when it is. */
export const toOAuthRequest = (exchange: Exchange, body: string): OAuthRequest => new ExchangeRequest(exchange, body)

/** A class: an object literal with getters is put together member by member for each request, which takes 1 µs. */
class ExchangeRequest implements OAuthRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: string
  readonly contentType: string | undefined
  readonly authorization: readonly string[]
  readonly cookie: string | undefined
  readonly accept: string | undefined
  readonly origin: string | undefined
  readonly address: string
  readonly dpop: readonly string[]
  readonly #context: RequestContext

  constructor(exchange: Exchange, body: string) {
    const { context, target } = exchange
    const { fields } = context
    this.method = methodOf(exchange)
    this.path = target?.path ?? ''
    this.query = target?.query ?? ''
    this.body = body
    this.contentType = fields.contentType
    this.authorization = fields.authorization
    this.cookie = fields.cookie
    this.accept = fields.accept
    this.origin = fields.origin
    this.address = context.address
    this.dpop = fields.dpop
    this.#context = context
  }

  get acceptLanguage(): string | undefined {
    return fieldValues(this.#context.request.head, 'accept-language')[0]
  }

  get fetchSite(): string | undefined {
    return fieldValues(this.#context.request.head, 'sec-fetch-site')[0]
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.#context.clientCertificate()
  }
}
