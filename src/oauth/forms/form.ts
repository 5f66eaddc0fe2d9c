import { OAuthError } from '../../errors.ts'
import type { OAuthRequest } from '../protocol.ts'
import { isFormEncoded, maxPairs, readPairs } from './urlencoded.ts'

/**
 * Parameters of one form-encoded POST. A parameter must not repeat, and an empty one counts as absent (RFC 6749
 * sections 3.1 and 3.2).
 */
export interface Form {
  /** The parameter's value, or undefined if it is missing or empty. */
  get(name: string): string | undefined
  /** Every `resource` in order: the only parameter read here that may be sent more than once (RFC 8707 section 2). */
  readonly resources: readonly string[]
}

/** URLs end up in logs and browser histories, so RFC 6749 section 2.3.1 forbids secrets in them. */
const neverInQuery: readonly string[] = [
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'password',
  'refresh_token',
  'token',
]

/**
 * Reads the body of a token, introspection or revocation request. The query string is only checked for errors:
 * parameters are read from the body alone (RFC 6749 section 3.2).
 * @throws OAuthError invalid_request: another content type, a malformed or repeated parameter, too many parameters,
 * or a secret in the query
 */
export const parseForm = (request: OAuthRequest): Form => {
  if (!isFormEncoded(request.contentType)) throw refuse('The body must be application/x-www-form-urlencoded')
  const query = request.query === '' ? noFields : readFields(request.query)
  const body = readFields(request.body)
  if (neverInQuery.some(name => query.values.has(name)))
    throw refuse('Secrets and tokens belong in the body, not in the URL')
  if (query.isRepeated || body.isRepeated || isInBoth(query, body)) throw refuse('A parameter was sent more than once')
  const { values, resources } = body
  return { get: name => values.get(name) || undefined, resources }
}

const refuse = (description: string): OAuthError => new OAuthError('invalid_request', description)

/** The parameters of one query string or body. */
interface Fields {
  /** Empty values too. If a parameter may repeat: its last value that is not empty. */
  readonly values: ReadonlyMap<string, string>
  readonly resources: readonly string[]
  /** Whether a parameter that must not repeat was sent twice. */
  readonly isRepeated: boolean
}

const noFields: Fields = { values: new Map(), resources: [], isRepeated: false }

/** RFC 8707 section 2 and RFC 8693 section 2.1. */
const mayRepeat = (name: string): boolean => name === 'resource' || name === 'audience'

/** Reads a text in one pass. A text that cannot be decoded unambiguously is refused. */
const readFields = (text: string): Fields => {
  const values = new Map<string, string>()
  const resources: string[] = []
  let isRepeated = false
  readValidPairs(text, (name, value) => {
    if (values.has(name)) {
      if (!mayRepeat(name)) isRepeated = true
      if (value === '') return
    }
    values.set(name, value)
    if (name === 'resource' && value !== '') resources.push(value)
  })
  return { values, resources, isRepeated }
}

/**
 * Reads the pairs of a text as `readPairs` does. @throws OAuthError invalid_request for a malformed pair or too many
 * pairs
 */
export const readValidPairs = (text: string, onPair: (name: string, value: string) => void): void => {
  const fault = readPairs(text, (name, value) => {
    if (name === undefined || value === undefined) return 'malformed'
    onPair(name, value)
    return undefined
  })
  if (fault === 'too_many') throw refuse(`More than ${maxPairs} parameters were sent`)
  if (fault === 'malformed') throw refuse('A parameter is not form-encoded UTF-8')
}

const isInBoth = (query: Fields, body: Fields): boolean => {
  for (const name of query.values.keys()) if (body.values.has(name) && !mayRepeat(name)) return true
  return false
}
