/** Pieces of the grammar of RFC 9110 section 5 that requests and responses share. */

/** RFC 9110 section 5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Whether the text is a token: a field name, a method. */
export const isToken = (text: string): boolean => token.test(text)

/**
 * Bytes that no head may have, as latin1: control characters except the horizontal tab, a CR without its LF, an LF
 * without its CR (RFC 9110 section 5.5, RFC 9112 section 2.2).
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const invalidByte = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/

/** Whether a text in latin1, its lines separated by CRLF, has a byte that no head may hold. */
export const hasInvalidByte = (text: string): boolean => invalidByte.test(text)

/** The first such byte. */
export const findInvalidByte = (text: string): string | undefined => invalidByte.exec(text)?.[0]

/** The text between two places of a line, without the optional white space around it (RFC 9110 section 5.6.3). */
export const trimmedSlice = (text: string, from: number, to: number): string => {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

/** Whether a list such as the value of `Connection` has this member. Both are in lower case. */
export const hasListMember = (list: string, member: string): boolean =>
  list === member || (list.includes(member) && list.split(',').some(each => each.trim() === member))

/**
 * The field names that a `Connection` field asks to remove, without the connection options. Undefined in the usual
 * cases. `Content-Length` is kept, because it frames the body (RFC 9110 section 7.6.1).
 * @param connection in lower case; undefined: the field is not present
 */
export const nominatedFields = (connection: string | undefined): ReadonlySet<string> | undefined => {
  if (connection === undefined || connection === '' || connection === 'keep-alive' || connection === 'close') {
    return undefined
  }
  const names = connection.split(',')
  return new Set(names.map(name => name.trim()).filter(name => name !== 'content-length'))
}

/**
 * A copy of a latin1 text that is kept for long. V8 makes a slice of a long text a view of it, so a cache of slices
 * would keep every head in memory.
 */
export const detachedCopy = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')
