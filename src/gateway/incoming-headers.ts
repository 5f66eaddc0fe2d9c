import type { Exchange } from './exchange.ts'

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

/**
 * The upstream's header as it goes to the client, names and values in turn: end-to-end fields in their order and
 * spelling, then the request id and the plan's fields.
 * @param raw names and values in turn, as bytes
 */
export const incomingHeaders = (exchange: Exchange, status: number, raw: readonly Uint8Array[]): string[] => {
  const headers: string[] = []
  let nominated: ReadonlySet<string> | undefined
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = latin1(raw[i])
    const lower = name.toLowerCase()
    if (lower === 'connection') nominated = merged(nominated, latin1(raw[i + 1]))
    if (dropped.has(lower)) continue
    // RFC 9110 section 8.6: a 204 has no Content-Length; some servers send one all the same.
    if (status === 204 && lower === 'content-length') continue
    headers.push(name, latin1(raw[i + 1]))
  }
  const kept = nominated ? withoutNominated(headers, nominated) : headers
  kept.push('x-request-id', exchange.context.id, ...exchange.rateLimit)
  return kept
}

const latin1 = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

const merged = (before: ReadonlySet<string> | undefined, value: string): ReadonlySet<string> | undefined => {
  if (value === 'keep-alive' || value === 'close') return before
  const names = value.toLowerCase().split(',')
  return new Set([...(before ?? []), ...names.map(name => name.trim())])
}

const withoutNominated = (headers: readonly string[], nominated: ReadonlySet<string>): string[] => {
  const kept: string[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (nominated.has(name.toLowerCase()) && name.toLowerCase() !== 'content-length') continue
    kept.push(name, headers[i + 1] ?? '')
  }
  return kept
}
