/** Secrets in a query string: found by their decoded name, taken out without touching the rest. */

/** Cheap first look: a query without these letters (or an escape that could hide them) holds no secret. */
const mayHoldSecret = /secret|token|password|assertion|%/i

/** Names, decoded and in lower case, without a trailing `[]`, that carry a secret wherever they stand. */
const secretNames = new Set(['client_secret', 'access_token', 'client_assertion'])

/** Whether a parameter of the query is a secret, in any spelling of its name. */
export const hasSecretParameter = (query: string): boolean =>
  mayHoldSecret.test(query) && query.split(/[&;]/).some(pair => secretNames.has(plainName(pair)))

/**
 * The query without `client_id` and every spelling of a secret, the rest in its order and encoding. For operations
 * whose credentials are in the query: these never leave the gateway.
 */
export const withoutCredentials = (query: string): string =>
  query
    .split('&')
    .filter(pair => !isCredential(pair))
    .join('&')

/** A URL without its query where that holds a secret: a page opened with query credentials names them in Referer. */
export const withoutSecretQuery = (url: string): string => {
  const mark = url.indexOf('?')
  return mark >= 0 && hasSecretParameter(url.slice(mark + 1)) ? url.slice(0, mark) : url
}

const isCredential = (pair: string): boolean => {
  // `a=1;client_secret=s`: some servers still split at semicolons, so every part is looked at.
  const names = pair.split(';').map(plainName)
  return names.includes('client_id') || names.some(name => secretNames.has(name))
}

const plainName = (pair: string): string => {
  const end = pair.indexOf('=')
  const raw = (end < 0 ? pair : pair.slice(0, end)).replace(/\+/g, ' ')
  let name = raw
  try {
    name = decodeURIComponent(raw)
  } catch {
    // Not decodable: compared as it stands.
  }
  return name.trim().toLowerCase().replace(/\[.*$/, '')
}
