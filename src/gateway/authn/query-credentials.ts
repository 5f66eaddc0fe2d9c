/** Finds secrets in a query string by their decoded name, and removes them without changing the rest. */

/** A cheap first check: a query without these words and without an escape holds no secret. */
const mayHoldSecret = /secret|token|password|assertion|%/i

/** Decoded names in lower case, without a trailing `[]`, of parameters that always hold a secret. */
const secretNames = new Set(['client_secret', 'access_token', 'client_assertion'])

/** A shorter parameter cannot have one of these names. */
const shortestSecretName = 'access_token'.length

/** Whether a parameter of the query is a secret, however its name is spelled. */
export const hasSecretParameter = (query: string): boolean =>
  mayHoldSecret.test(query) && query.split(/[&;]/).some(isSecret)

const isSecret = (pair: string): boolean => pair.length >= shortestSecretName && secretNames.has(plainName(pair))

/**
 * The query without `client_id` and all secrets, the rest in its order and encoding. For operations with credentials in
 * the query, which must not leave the gateway.
 */
export const withoutCredentials = (query: string): string =>
  query
    .split('&')
    .filter(pair => !isCredential(pair))
    .join('&')

/**
 * A URL without its query if the query holds a secret. The Referer of a page that was opened with query credentials
 * holds them.
 */
export const withoutSecretQuery = (url: string): string => {
  const mark = url.indexOf('?')
  return mark >= 0 && hasSecretParameter(url.slice(mark + 1)) ? url.slice(0, mark) : url
}

const isCredential = (pair: string): boolean => {
  // `a=1;client_secret=s`: some servers still split at semicolons, so every part is checked.
  const names = pair.split(';').map(plainName)
  return names.includes('client_id') || names.some(name => secretNames.has(name))
}

/**
 * The name as the most lenient server reads it: decoded as far as possible, without control characters, stray `%` and a
 * second `?`.
 */
const plainName = (pair: string): string => {
  const end = pair.indexOf('=')
  return (end < 0 ? pair : pair.slice(0, end))
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(beyondName, '')
    .replace(/^[ ?]+|\[.*$/g, '')
    .trim()
    .toLowerCase()
}

/** Characters in a name that servers cut off, drop or fail at. The names in question are ASCII. */
const beyondName = /[^\x20-\x7e]|%/g
