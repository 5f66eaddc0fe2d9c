import { parsedText, textLike } from './zod-scalars.ts'

/** RFC 6749 section 3.3: printable ASCII without space, quote and backslash. */
const scopeTokenPattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/

const expectation = 'a scope is printable ASCII without space, quote and backslash (RFC 6749 section 3.3)'

export const scopeToken = () => textLike(scopeTokenPattern, expectation)

/** Space-separated scopes to a list, each once, in their order. */
export const scopeList = () =>
  parsedText(text => {
    const tokens = text.split(' ').filter(token => token !== '')
    return tokens.every(token => scopeTokenPattern.test(token)) ? [...new Set(tokens)] : undefined
  }, `must be one text, with a space between scopes; ${expectation}`)
