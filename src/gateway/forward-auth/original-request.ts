import { fieldValues } from '../../http/server/request-parser.ts'
import type { Exchange } from '../exchange.ts'
import type { Operation } from '../operation.ts'
import type { ForwardAuthProxy } from '../options.ts'

/** The request that a gateway asks about, as it came to that gateway. */
export type OriginalRequest =
  | { readonly kind: 'request'; readonly method: string /** Path and query. */; readonly uri: string }
  /** `reason` is for whoever configures the gateway that asks. */
  | { readonly kind: 'unreadable'; readonly reason: string }

interface FieldNames {
  readonly method: string
  readonly uri: string
}

/** Each gateway has one way to say it, and only that one is read: of two, one would be a client's. */
const fieldNames: Readonly<Record<Exclude<ForwardAuthProxy, 'envoy'>, FieldNames>> = {
  nginx: { method: 'X-Original-Method', uri: 'X-Original-URI' },
  traefik: { method: 'X-Forwarded-Method', uri: 'X-Forwarded-Uri' },
  caddy: { method: 'X-Forwarded-Method', uri: 'X-Forwarded-Uri' },
}

/** @param asking the operation that serves the check; Envoy puts its path before that of the original request */
export const readOriginalRequest = (
  gateway: ForwardAuthProxy,
  exchange: Exchange,
  asking: Operation,
): OriginalRequest => (gateway === 'envoy' ? belowPrefix(exchange, asking) : fromFields(exchange, fieldNames[gateway]))

const fromFields = (exchange: Exchange, names: FieldNames): OriginalRequest => {
  const method = readOnly(exchange, names.method)
  const uri = readOnly(exchange, names.uri)
  if (method === undefined || uri === undefined) {
    return unreadable(`${names.method} and ${names.uri} must be there, once each`)
  }
  // Both go into the log, the method as it stands.
  if (!/^[A-Z-]{1,32}$/.test(method)) return unreadable(`${names.method} is no method`)
  if (!uri.startsWith('/') || /\s/.test(uri)) return unreadable(`${names.uri} is no path and query`)
  return { kind: 'request', method, uri }
}

/** The field's value; undefined where there is none, or more than one line. */
const readOnly = ({ context }: Exchange, name: string): string | undefined => {
  const lines = fieldValues(context.request.head, name.toLowerCase())
  return lines.length === 1 ? lines[0] : undefined
}

/** `/check/accounts?page=2` for `/check/**`: Envoy sends the method as it came. */
const belowPrefix = ({ context, target }: Exchange, { path: pattern }: Operation): OriginalRequest => {
  const { path = '', query = '' } = target ?? {}
  const rest = path.slice(pattern.length - '/**'.length)
  if (rest === '') return unreadable('no path follows that of the check')
  return { kind: 'request', method: context.method, uri: query === '' ? rest : `${rest}?${query}` }
}

const unreadable = (reason: string): OriginalRequest => ({ kind: 'unreadable', reason })
