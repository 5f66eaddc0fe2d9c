/** A complete response as a value. */
export interface Reply {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: string
  /** Closes the connection after this response, because the framing of the request cannot be trusted. */
  readonly close?: boolean
}

/** The part of a server's response that a reply is written to. */
interface ReplyTarget {
  readonly headersSent: boolean
  readonly isOver: boolean
  closes: boolean
  writeHead(head: { status: number; lines: string; length: string | undefined; hasDate: boolean }): void
  end(body: string): void
}

/** Writes a complete response. Does nothing if a response has begun already. */
export const writeReply = (response: ReplyTarget, reply: Reply, requestId: string): void => {
  if (response.headersSent || response.isOver) return
  if (reply.close) response.closes = true
  const { status, headers, body } = reply
  const bytes = toLatin1(body)
  const lines = `${fieldLines(headers)}x-request-id: ${requestId}\r\n`
  // RFC 9110 section 8.6.
  const length = status === 204 || status === 304 ? undefined : String(bytes.length)
  response.writeHead({ status, lines, length, hasDate: false })
  response.end(bytes)
}

/**
 * Names and values in turn as field lines. @throws TypeError if a value has a line break or a control character, which
 * is a bug
 */
export const fieldLines = (fields: readonly string[]): string => {
  let lines = ''
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (!valueForm.test(fields[i + 1] ?? '')) throw new TypeError(`the value of ${fields[i]} is not a field value`)
    lines += `${fields[i]}: ${fields[i + 1]}\r\n`
  }
  return lines
}

/** RFC 9110 section 5.5. Characters above U+00FF would lose their upper byte: U+010A would become a line feed. */
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/

/** The UTF-8 bytes of a text as latin1 characters. Node writes latin1 without another conversion. */
const toLatin1 = (text: string): string =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text, 'utf8').toString('latin1')
