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
