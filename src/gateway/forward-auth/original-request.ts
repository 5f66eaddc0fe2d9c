import { fieldValues } from '../../http/server/request-parser.ts'
import type { Exchange } from '../exchange.ts'
import type { Operation } from '../operation.ts'
import type { ForwardAuthProxy } from '../options.ts'

/** The original request, as it reached the proxy that asks. */
export type OriginalRequest =
  | { readonly kind: 'request'; readonly method: string /** Path and query. */; readonly uri: string }
  /** `reason` is written for the operator of the proxy. */
  | { readonly kind: 'unreadable'; readonly reason: string }

interface FieldNames {
  readonly method: string
  readonly uri: string
}

/**
 * Each proxy sends the original request in one way, and only that one is read: a second one could come from a client.
 */
const fieldNames: Readonly<Record<Exclude<ForwardAuthProxy, 'envoy'>, FieldNames>> = {
  nginx: { method: 'X-Original-Method', uri: 'X-Original-URI' },
  traefik: { method: 'X-Forwarded-Method', uri: 'X-Forwarded-Uri' },
  caddy: { method: 'X-Forwarded-Method', uri: 'X-Forwarded-Uri' },
}

/** @param asking the operation that serves forward auth; Envoy puts its path before that of the original request */
export const readOriginalRequest = (
  gateway: ForwardAuthProxy,
  exchange: Exchange,
  asking: Operation,
): OriginalRequest => (gateway === 'envoy' ? belowPrefix(exchange, asking) : fromFields(exchange, fieldNames[gateway]))

const fromFields = (exchange: Exchange, names: FieldNames): OriginalRequest => {
  const method = readOnly(exchange, names.method)
  const uri = readOnly(exchange, names.uri)
  if (method === undefined || uri === undefined) {
    return unreadable(`${names.method} and ${names.uri} must both be present exactly once`)
  }
  // Both are logged, the method unchanged.
  if (!/^[A-Z-]{1,32}$/.test(method)) return unreadable(`${names.method} is not a method`)
  if (!uri.startsWith('/') || /\s/.test(uri)) return unreadable(`${names.uri} is not a path and query`)
  return { kind: 'request', method, uri }
}

/** The field's value. Undefined if there is no line, or more than one. */
const readOnly = ({ context }: Exchange, name: string): string | undefined => {
  const lines = fieldValues(context.request.head, name.toLowerCase())
  return lines.length === 1 ? lines[0] : undefined
}

/** `/check/accounts?page=2` for `/check/**`: Envoy sends the original method unchanged. */
const belowPrefix = ({ context, target }: Exchange, { path: pattern }: Operation): OriginalRequest => {
  const { path = '', query = '' } = target ?? {}
  const rest = path.slice(pattern.length - '/**'.length)
  if (rest === '') return unreadable('the path of the forward-auth operation is not followed by the original path')
  return { kind: 'request', method: context.method, uri: query === '' ? rest : `${rest}?${query}` }
}

const unreadable = (reason: string): OriginalRequest => ({ kind: 'unreadable', reason })
