import type { OAuthRequest } from '../protocol.ts'
import { isFormEncoded, readPairs } from './urlencoded.ts'

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

/** Why a request as a whole has none: its body is of another content type, or there are more than `maxPairs`. */
export type UnreadableParameters = 'not_form_encoded' | 'too_many'

/**
 * Reads a GET's query or a form-encoded POST's body (RFC 6749 section 3.1). Of a POST the query counts for nothing but
 * repetition: a parameter in both places is at fault.
 */
export const parseParameters = (request: OAuthRequest): Parameters | UnreadableParameters => {
  const isPost = request.method === 'POST'
  if (isPost && !isFormEncoded(request.contentType)) return 'not_form_encoded'
  const values = groupByName(isPost ? request.body : request.query)
  const inQuery = isPost ? groupByName(request.query) : noValues
  return values === undefined || inQuery === undefined ? 'too_many' : toParameters(values, inQuery)
}

/** By name, in the order of their first; undefined stands for a value that cannot be decoded. */
type Values = ReadonlyMap<string, readonly (string | undefined)[]>

const noValues: Values = new Map()

/** The values of a text; undefined where there are too many of them. A pair without a name that can be read is none. */
const groupByName = (text: string): Values | undefined => {
  const values = new Map<string, (string | undefined)[]>()
  const fault = readPairs(text, (name, value) => {
    if (!name) return undefined
    const sent = values.get(name)
    if (sent === undefined) values.set(name, [value])
    else sent.push(value)
    return undefined
  })
  return fault === undefined ? values : undefined
}

const toParameters = (values: Values, inQuery: Values): Parameters => {
  const faults = new Map<string, ParameterFault>()
  for (const [name, sent] of values) {
    if (sent.includes(undefined)) faults.set(name, 'malformed')
    else if (sent.length > 1 || inQuery.has(name)) faults.set(name, 'repeated')
  }
  const all = (name: string): string[] => (values.get(name) ?? []).flatMap(value => value || [])
  return { get: name => (faults.has(name) ? undefined : all(name)[0]), all, faults }
}
