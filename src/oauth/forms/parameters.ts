import type { OAuthRequest } from '../protocol.ts'
import { isFormEncoded, readPairs } from './urlencoded.ts'

/**
 * The parameters of a request that a browser sends: an authorization request, or a form of our own pages. An invalid
 * parameter does not refuse the whole request as it does in a `Form`, because the response depends on which one it is.
 */
export interface Parameters {
  /** The value; undefined if it is missing, empty (the same by RFC 6749 section 3.1), repeated or malformed. */
  get(name: string): string | undefined
  /** Every value of a parameter that may repeat, without empty and malformed ones. */
  all(name: string): readonly string[]
  /** The parameters that were sent more than once or are not percent-encoded UTF-8, by name. */
  readonly faults: ReadonlyMap<string, ParameterFault>
}

export type ParameterFault = 'repeated' | 'malformed'

/** Why the parameters of a request cannot be read: another content type of the body, or more than `maxPairs`. */
export type UnreadableParameters = 'not_form_encoded' | 'too_many'

/**
 * Reads the query of a GET or the body of a form-encoded POST (RFC 6749 section 3.1). The query of a POST is only
 * checked for repetition: a parameter that is in both the query and the body counts as repeated.
 */
export const parseParameters = (request: OAuthRequest): Parameters | UnreadableParameters => {
  const isPost = request.method === 'POST'
  if (isPost && !isFormEncoded(request.contentType)) return 'not_form_encoded'
  const values = groupByName(isPost ? request.body : request.query)
  const inQuery = isPost ? groupByName(request.query) : noValues
  return values === undefined || inQuery === undefined ? 'too_many' : toParameters(values, inQuery)
}

/** By name, in the order of each name's first value. Undefined stands for a value that cannot be decoded. */
type Values = ReadonlyMap<string, readonly (string | undefined)[]>

const noValues: Values = new Map()

/** The values of a text; undefined if there are too many pairs. A pair whose name is empty or malformed is skipped. */
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
