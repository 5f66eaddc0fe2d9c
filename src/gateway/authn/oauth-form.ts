import { type BodyOutcome, readBody } from '../../http/body.ts'
import { expectsContinue } from '../../http/context.ts'
import type { MaybePromise } from '../../oauth/functional.ts'
import { refuse } from '../error-response.ts'
import type { Exchange, Outcome } from '../exchange.ts'

/** OAuth bodies are small and arrive together with the head. RFC 9126 section 2.3 asks for a limit. */
const formLimits = { maxBytes: 64 * 1024, timeoutMs: 30_000 }

/** The body of an OAuth request, or the outcome that replaces it. */
export type FormBody =
  | { readonly kind: 'body'; readonly text: string }
  | { readonly kind: 'refused'; readonly outcome: Outcome }

const noBody: FormBody = { kind: 'body', text: '' }

/**
 * Reads the body of an OAuth request within its limits. Otherwise the response is 413 or 408, or the client has left
 * and gets none.
 */
export const readForm = (exchange: Exchange): MaybePromise<FormBody> => {
  const { request, response } = exchange.context
  // Bytes after a WebSocket handshake are not a body.
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
