import { parsedText, textLike } from './zod-scalars.ts'

const mostCharacters = 512

/**
 * Why a text is no client_id (RFC 6749 appendix A.1), nor the subject of a token, which may be one. Both stand in tokens,
 * in log lines and in keys of the store, so they have an end.
 * @param what it is, as the sentence begins: `a client_id`
 */
export const identifierFault =
  (what: string) =>
  (text: string): string | undefined =>
    /^[\x20-\x7e]+$/.test(text) && text.length <= mostCharacters
      ? undefined
      : `${what} is 1 to ${mostCharacters} characters of printable ASCII (RFC 6749 appendix A)`

/**
 * Why a text is no client_id of a new or a served client. HTTP takes spaces off both ends of a field, so a service would
 * take `shop ` for the client `shop`.
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

/** Space-separated scopes to a list, each once, in their order. */
export const scopeList = () =>
  parsedText(text => {
    const tokens = text.split(' ').filter(token => token !== '')
    return tokens.every(token => scopeTokenPattern.test(token)) ? [...new Set(tokens)] : undefined
  }, `must be one text, with a space between scopes; ${scopeExpectation}`)
