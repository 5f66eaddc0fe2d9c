import type { OAuthRequest } from '../wire.ts'
import { decodeComponent } from './urlencoded.ts'

/**
 * The parameters of a request that a browser carries: an authorization request, or a form of our own pages. They are
 * told apart from a `Form` by what happens to a bad one: the answer depends on which parameter it is.
 */
export interface Parameters {
  /** The value; undefined where it is absent, empty (RFC 6749 section 3.1: the same) or at fault. */
  get(name: string): string | undefined
  /** Every value of a parameter that may repeat, without empty and unreadable ones. */
  all(name: string): readonly string[]
  /** The parameters sent more than once or with bytes that are no percent-encoded UTF-8, by name. */
  readonly faults: ReadonlyMap<string, ParameterFault>
}

export type ParameterFault = 'repeated' | 'malformed'

/**
 * Reads a GET's query or a form-encoded POST's body (RFC 6749 section 3.1). Of a POST the query counts for nothing but
 * repetition: a parameter in both places is at fault. Undefined where a POST is not form-encoded.
 */
export const parseParameters = (request: OAuthRequest): Parameters | undefined => {
  if (request.method !== 'POST') return toParameters(parsePairs(request.query), new Set())
  if (!isFormEncoded(request.contentType)) return undefined
  return toParameters(parsePairs(request.body), new Set(parsePairs(request.query).map(([name]) => name)))
}

/** A name and its value; undefined stands for a value that cannot be decoded. */
type Pair = readonly [name: string, value: string | undefined]

const isFormEncoded = (contentType = ''): boolean =>
  contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded'

const toParameters = (pairs: readonly Pair[], sentElsewhere: ReadonlySet<string>): Parameters => {
  const values = Map.groupBy(pairs, ([name]) => name)
  const faults = new Map<string, ParameterFault>()
  for (const [name, sent] of values) {
    if (sent.some(([, value]) => value === undefined)) faults.set(name, 'malformed')
    else if (sent.length > 1 || sentElsewhere.has(name)) faults.set(name, 'repeated')
  }
  const all = (name: string): string[] => (values.get(name) ?? []).flatMap(([, value]) => value || [])
  return { get: name => (faults.has(name) ? undefined : all(name)[0]), all, faults }
}

const parsePairs = (text: string): Pair[] =>
  text.split('&').flatMap(pair => {
    const [name = '', ...rest] = pair.split('=')
    const decodedName = decodeComponent(name)
    return decodedName ? [[decodedName, decodeComponent(rest.join('='))] as const] : []
  })
