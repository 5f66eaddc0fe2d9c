import type { Exchange } from '../exchange.ts'
import { mergeLimits } from './limit-merge.ts'

/** An upstream's header as undici gives it: lower-case names, latin1 values, several of one name as an array. */
export type UpstreamHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Hop-by-hop fields of an answer (RFC 9110 section 7.6.1), and what the gateway says itself. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

/** The upstream's end-to-end fields as they go to the client, names and values in turn, then the id and the plan's. */
export const incomingHeaders = (exchange: Exchange, status: number, upstream: UpstreamHeaders): string[] => {
  const nominated = nominatedFields(upstream.connection)
  const merge = exchange.answerFields.length > 0 ? mergeLimits(upstream, exchange.answerFields) : undefined
  const headers: string[] = []
  for (const name in upstream) {
    if (dropped.has(name) || nominated?.has(name) || merge?.dropped.includes(name)) continue
    // RFC 9110 section 8.6: a 204 has no Content-Length; some servers send one all the same.
    if (status === 204 && name === 'content-length') continue
    const value = upstream[name]
    if (typeof value === 'string') headers.push(name, value)
    else for (const one of value ?? []) headers.push(name, one)
  }
  headers.push('x-request-id', exchange.context.id)
  for (const field of merge?.own ?? exchange.answerFields) headers.push(field)
  return headers
}

/**
 * Whether the body can be handed on as it arrives. `Transfer-Encoding: gzip, chunked` is between the upstream and us
 * (RFC 9112 section 7): without the field the client would take the coded bytes for the content.
 */
export const isPlainlyCoded = (upstream: UpstreamHeaders): boolean => {
  const coding = upstream['transfer-encoding']
  return coding === undefined || coding === 'chunked' || String(coding).trim().toLowerCase() === 'chunked'
}

/** What `Connection` asks to remove; undefined in the usual cases. Content-Length stays: it frames. */
const nominatedFields = (connection: UpstreamHeaders[string]): ReadonlySet<string> | undefined => {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined
  const names = String(connection).toLowerCase().split(',')
  return new Set(names.map(name => name.trim()).filter(name => name !== 'content-length'))
}
