/** An HTTP/1.1 answer read from bytes, without an HTTP library that would tidy anything up. */
export interface RawAnswer {
  readonly status: number
  /** In the order received; names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** False where the connection ended before the message did. */
  readonly isComplete: boolean
}

/** The values of every line of this name, in order. */
export const headersOf = (answer: RawAnswer, name: string): readonly string[] =>
  answer.fields.filter(([found]) => found === name).map(([, value]) => value)

/** The value of the only line of this name, or undefined. @throws Error where there are several */
export const headerOf = (answer: RawAnswer, name: string): string | undefined => {
  const values = headersOf(answer, name)
  if (values.length > 1) throw new Error(`${name} stands in the answer ${values.length} times`)
  return values[0]
}

export interface ParsedAnswer {
  readonly answer: RawAnswer
  /** The bytes after it. */
  readonly rest: Buffer
}

/**
 * The first answer in these bytes, or undefined while more must come.
 * @param method of the request it answers: a HEAD's answer has no body (RFC 9112 section 6.3)
 * @param hasEnded nothing more will come
 * @throws Error where the bytes are no answer
 */
export const parseAnswer = (bytes: Buffer, method: string, hasEnded: boolean): ParsedAnswer | undefined => {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(statusLine)}`)
  const fields = lines.map(parseField)
  const body = parseBody(bytes.subarray(headEnd + 4), framingOf(status, method, fields))
  if (!body.isComplete && !hasEnded) return undefined
  const isComplete = body.isComplete || (body.untilEnd && hasEnded)
  return { answer: { status, fields, body: body.content, isComplete }, rest: body.rest }
}

const parseField = (line: string): readonly [string, string] => {
  const colon = line.indexOf(':')
  if (colon < 1) throw new Error(`no field line: ${JSON.stringify(line)}`)
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

/** Bytes of the body, or `chunked`, or until the connection ends. */
type Framing = number | 'chunked' | 'until_end'

const framingOf = (status: number, method: string, fields: RawAnswer['fields']): Framing => {
  if (status < 200 || status === 204 || status === 304 || method === 'HEAD') return 0
  const named = (name: string): readonly string[] => fields.filter(([found]) => found === name).map(([, v]) => v)
  const codings = named('transfer-encoding')
  const lengths = named('content-length')
  if (codings.length + lengths.length > 1) throw new Error('the answer is framed in more than one way')
  if (codings.length === 1) return 'chunked'
  return lengths.length === 1 ? Number(lengths[0]) : 'until_end'
}

interface Body {
  readonly content: Buffer
  readonly rest: Buffer
  readonly isComplete: boolean
  readonly untilEnd: boolean
}

const parseBody = (bytes: Buffer, framing: Framing): Body => {
  if (framing === 'chunked') return parseChunks(bytes)
  const isComplete = framing !== 'until_end' && bytes.length >= framing
  const end = framing === 'until_end' ? bytes.length : framing
  return { content: bytes.subarray(0, end), rest: bytes.subarray(end), isComplete, untilEnd: framing === 'until_end' }
}

const parseChunks = (bytes: Buffer): Body => {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (Number.isNaN(size) || bytes.length < end + 2) {
      const begun = lineEnd < 0 ? Buffer.alloc(0) : bytes.subarray(lineEnd + 2)
      return { content: Buffer.concat([...chunks, begun]), rest: Buffer.alloc(0), isComplete: false, untilEnd: false }
    }
    if (size === 0) {
      return { content: Buffer.concat(chunks), rest: bytes.subarray(end + 2), isComplete: true, untilEnd: false }
    }
    chunks.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
