import type { UpstreamHead } from '../../http/client/response-head.ts'
import { fieldLines } from '../../http/reply.ts'
import type { ResponseHead } from '../../http/server/response.ts'
import type { Exchange } from '../exchange.ts'
import { mergeLimits } from './merge-ratelimit-headers.ts'

/** The head for the client: the upstream's end-to-end fields, then the request id and the fields of the plan. */
export const toClientHead = ({ answerFields, context }: Exchange, head: UpstreamHead): ResponseHead => {
  const { status, fields, hasDate } = head
  const merge = answerFields.length > 0 ? mergeLimits(name => joinedValue(fields, name), answerFields) : undefined
  const upstream = merge === undefined ? head.lines : withoutFields(head.lines, merge.dropped)
  return {
    status,
    lines: `${upstream}x-request-id: ${context.id}\r\n${fieldLines(merge?.own ?? answerFields)}`,
    length: mayHaveLength(status) ? head.length : undefined,
    hasDate,
  }
}

/** RFC 9110 section 8.6: a 204 and a 1xx have no Content-Length. Some servers send it nevertheless. */
const mayHaveLength = (status: number): boolean => status !== 204 && status >= 200

/** All values of a field, concatenated. Undefined if the field is not present. */
const joinedValue = (fields: readonly string[], name: string): string | undefined => {
  const values = fields.filter((_, index) => index % 2 === 1 && fields[index - 1]?.toLowerCase() === name)
  return values.length === 0 ? undefined : values.join('')
}

/** @param names in lower case */
const withoutFields = (lines: string, names: readonly string[]): string =>
  lines.replace(/([^:\r\n]+):[^\r\n]*\r\n/g, (line, name: string) => (names.includes(name.toLowerCase()) ? '' : line))
