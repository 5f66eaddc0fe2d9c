/** Secrets in a query string: found by their decoded name, taken out without touching the rest. */

/** Cheap first look: a query without these letters (or an escape that could hide them) holds no secret. */
const mayHoldSecret = /secret|token|password|assertion|%/i

/** Names, decoded and in lower case, without a trailing `[]`, that carry a secret wherever they stand. */
const secretNames = new Set(['client_secret', 'access_token', 'client_assertion'])

/** A pair of fewer characters names none of them. */
const shortestSecretName = 'access_token'.length

/** Whether a parameter of the query is a secret, in any spelling of its name. */
export const hasSecretParameter = (query: string): boolean =>
  mayHoldSecret.test(query) && query.split(/[&;]/).some(isSecret)

const isSecret = (pair: string): boolean => pair.length >= shortestSecretName && secretNames.has(plainName(pair))

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

/** As the most lenient server reads it: decoded as far as it can be, without control characters, stray `%` and a second `?`. */
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

/** What servers cut off, drop or stumble over in a name; its own characters are ASCII. */
const beyondName = /[^\x20-\x7e]|%/g
