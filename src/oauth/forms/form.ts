import { OAuthError } from '../../errors.ts'
import type { OAuthRequest } from '../wire.ts'
import { parsePairs } from './urlencoded.ts'

/** Parameters of one form-encoded POST, each present once and not empty (RFC 6749 sections 3.1 and 3.2). */
export interface Form {
  /** The parameter's value, or undefined where it was not sent or was sent empty. */
  get(name: string): string | undefined
  /** Every `resource` in order: the one parameter of ours that may be sent more than once (RFC 8707 section 2). */
  readonly resources: readonly string[]
}

type Pairs = readonly (readonly [string, string])[]

/** RFC 8707 section 2 and RFC 8693 section 2.1. */
const repeatable: ReadonlySet<string> = new Set(['resource', 'audience'])

/** URLs end in logs and histories; RFC 6749 section 2.3.1 keeps secrets out of them. */
const neverInQuery: ReadonlySet<string> = new Set([
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'password',
  'refresh_token',
  'token',
])

/**
 * Reads the body of a token, introspection or revocation request. The query string counts only for what is wrong with
 * it: a parameter of a request is read from the body alone (RFC 6749 section 3.2).
 * @throws OAuthError invalid_request: another content type, a malformed or repeated parameter, a secret in the query
 */
export const parseForm = (request: OAuthRequest): Form => {
  requireFormEncoding(request.contentType)
  const query = readPairs(request.query)
  const body = readPairs(request.body)
  if (query.some(([name]) => neverInQuery.has(name)))
    throw refuse('Secrets and tokens belong in the body, not in the URL')
  refuseRepeated(query, body)
  return toForm(body)
}

const refuse = (description: string): OAuthError => new OAuthError('invalid_request', description)

const requireFormEncoding = (contentType: string | undefined): void => {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded') {
    throw refuse('The body must be application/x-www-form-urlencoded')
  }
}

/** The pairs of one text; a text that cannot be decoded in one way only is refused. */
const readPairs = (text: string): Pairs => {
  const pairs = parsePairs(text)
  if (!pairs) throw refuse('A parameter is not form-encoded UTF-8')
  return pairs
}

const refuseRepeated = (...sources: readonly Pairs[]): void => {
  const seen = new Set<string>()
  for (const [name] of sources.flat()) {
    if (seen.has(name) && !repeatable.has(name)) throw refuse('A parameter was sent more than once')
    seen.add(name)
  }
}

const toForm = (pairs: Pairs): Form => {
  const sent = pairs.filter(([, value]) => value !== '')
  const values = new Map(sent)
  return {
    get: name => values.get(name),
    resources: sent.filter(([name]) => name === 'resource').map(([, value]) => value),
  }
}
