import {
  type Framing,
  type ParsedHead,
  parseUpstreamHead,
  type UpstreamHead,
  type VaryingOffsets,
} from './response-head.ts'

/** The last head of a connection, split where the next one may differ. */
interface Template {
  readonly method: string
  readonly text: string
  readonly parsed: ParsedHead
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7). */
const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const decimal = /^\d{1,15}$/

/**
 * Parses the heads of one connection's responses. A server nearly always sends the same head except for Date and
 * Content-Length: such a head is not parsed again.
 */
export class UpstreamHeadParser {
  #template: Template | undefined

  /** As `parseUpstreamHead`. */
  parse(text: string, method: string): UpstreamHead {
    const template = this.#template
    if (template !== undefined && template.method === method) {
      if (template.text === text) return template.parsed.head
      const similar = similarHead(template, text)
      if (similar !== undefined) return similar
    }
    const parsed = parseUpstreamHead(text, method)
    this.#template = { method, text, parsed }
    return parsed.head
  }
}

/** The head if it differs from the template only in the values of Date and Content-Length. */
const similarHead = (template: Template, text: string): UpstreamHead | undefined => {
  const { head, offsets } = template.parsed
  // After a response without a body that declares one, no other may follow on the connection. The parser decides that
  // together with the length.
  if (template.method === 'HEAD' || head.status === 204 || head.status === 304) return undefined
  const values = varyingValues(template, text)
  if (values === undefined) return undefined
  const { date, length } = values
  const lines = date === undefined || !head.hasDate ? head.lines : withDate(head.lines, date, offsets)
  const framing: Framing = length === undefined ? head.framing : { by: 'length', bytes: Number(length) }
  return { ...head, lines, length, framing }
}

const withDate = (lines: string, date: string, { dateFrom, dateTo, dateInLines }: VaryingOffsets): string =>
  lines.slice(0, dateInLines) + date + lines.slice(dateInLines + dateTo - dateFrom)

interface VaryingValues {
  readonly date: string | undefined
  readonly length: string | undefined
}

/** Undefined if anything else differs. */
const varyingValues = ({ text: before, parsed }: Template, text: string): VaryingValues | undefined => {
  const { dateFrom, dateTo, lengthFrom, lengthTo } = parsed.offsets
  const values: { date: string | undefined; length: string | undefined } = { date: undefined, length: undefined }
  const varying = [
    { name: 'date', from: dateFrom, to: dateTo, form: imfFixdate },
    { name: 'length', from: lengthFrom, to: lengthTo, form: decimal },
  ] as const
  let readTo = 0
  let at = 0
  for (const { name, from, to, form } of dateFrom < lengthFrom ? varying : varying.toReversed()) {
    if (from < 0) continue
    const between = before.slice(readTo, from)
    if (!text.startsWith(between, at)) return undefined
    const start = at + between.length
    const end = text.indexOf('\r\n', start)
    const value = text.slice(start, end < 0 ? text.length : end)
    if (!form.test(value)) return undefined
    values[name] = value
    at = start + value.length
    readTo = to
  }
  const isSame = text.length - at === before.length - readTo && text.endsWith(before.slice(readTo))
  return isSame ? values : undefined
}
