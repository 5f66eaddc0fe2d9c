import { parsedText, textLike } from './zod-scalars.ts'

const mostCharacters = 512

/**
 * Why a text is not a valid client_id (RFC 6749 appendix A.1) or subject of a token, which may be a client_id. Both
 * occur in tokens, log lines and keys of the store, so their length is limited.
 * @param what the beginning of the message: `a client_id`
 */
export const identifierFault =
  (what: string) =>
  (text: string): string | undefined =>
    /^[\x20-\x7e]+$/.test(text) && text.length <= mostCharacters
      ? undefined
      : `${what} is 1 to ${mostCharacters} characters of printable ASCII (RFC 6749 appendix A)`

/**
 * Why a text is not valid as the client_id of a new or configured client. HTTP removes spaces at both ends of a field,
 * so an upstream would take `shop ` for the client `shop`.
 */
export const clientIdFault = (text: string): string | undefined =>
  identifierFault('a client_id')(text) ??
  (text.trim() === text
    ? undefined
    : 'a client_id has no space at either end, because HTTP removes it from header fields')

/** RFC 6749 section 3.3: printable ASCII without space, quote and backslash. */
const scopeTokenPattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/

const scopeExpectation = 'a scope is printable ASCII without space, quote and backslash (RFC 6749 section 3.3)'

export const scopeToken = () => textLike(scopeTokenPattern, scopeExpectation)

/** Parses space-separated scopes into a list without duplicates, in their order. */
export const scopeList = () =>
  parsedText(text => {
    const tokens = text.split(' ').filter(token => token !== '')
    return tokens.every(token => scopeTokenPattern.test(token)) ? [...new Set(tokens)] : undefined
  }, `must be one text, with a space between scopes; ${scopeExpectation}`)
