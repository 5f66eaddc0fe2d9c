import { type BodyOutcome, readBody } from '../../http/body.ts'
import { expectsContinue } from '../../http/context.ts'
import type { MaybePromise } from '../../oauth/functional.ts'
import { refuse } from '../error-response.ts'
import type { Exchange, Outcome } from '../exchange.ts'

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
