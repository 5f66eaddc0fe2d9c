import type { JwkSet } from './public-keys.ts'

/** One response of a `jwks_uri`. */
export interface FetchedJwks {
  readonly jwks: JwkSet
  /** The `max-age` of its `Cache-Control`; undefined if it has no `max-age`. */
  readonly maxAgeSec: number | undefined
}

const maxBytes = 64 * 1024
/** The time limit of the whole fetch, in milliseconds. */
const timeoutMs = 5000

/** A fault in the response. The message is our own text and quotes nothing of the response. */
class JwksFault extends Error {}

/**
 * Whether keys may be fetched from this URI. A party that can change the keys on the way can act as the client, so
 * the URI must be https, or http on a loopback address.
 */
export const isFetchable = (uri: string): boolean => {
  const url = URL.parse(uri)
  if (url?.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.has(url.hostname))
}

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Fetches a key set (RFC 7517 section 5) without following redirects, in at most five seconds and 64 KiB.
 * @throws Error `fetchFailureReason` makes the message for the operator
 */
export const fetchJwks = async (uri: string): Promise<FetchedJwks> => {
  if (!isFetchable(uri)) throw new JwksFault('a jwks_uri must be https, or http on a loopback address')
  const response = await fetch(uri, {
    redirect: 'error',
    headers: { accept: 'application/jwk-set+json, application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await readBounded(response)
  if (response.status !== 200) throw new JwksFault(`the jwks_uri returned status ${response.status}`)
  return { jwks: parseJwkSet(text), maxAgeSec: readMaxAge(response.headers.get('cache-control')) }
}

const readBounded = async ({ body }: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    // Leaving the loop cancels the rest of the response.
    if (bytes > maxBytes) throw new JwksFault(`the jwks_uri returned more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const parseJwkSet = (text: string): JwkSet => {
  const value = parseJson(text)
  if (!isObject(value) || !Array.isArray(value.keys)) throw new JwksFault('the jwks_uri did not return a JWK set')
  return { keys: value.keys.filter(isObject) }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new JwksFault('the jwks_uri did not return JSON') // the parser's message would quote some of the text
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** RFC 9111 section 5.2.2.1. */
const readMaxAge = (cacheControl: string | null): number | undefined => {
  const seconds = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}

/** The reason why a fetch failed, for the operator. It quotes nothing of the response. */
export const fetchFailureReason = (error: unknown): string => {
  if (error instanceof JwksFault) return error.message
  if (!(error instanceof Error)) return 'unknown'
  if (error.name === 'TimeoutError') return `the jwks_uri did not answer within ${timeoutMs / 1000} s`
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException
  return code ?? message // an error of the connection: ECONNREFUSED, CERT_HAS_EXPIRED, unexpected redirect
}
