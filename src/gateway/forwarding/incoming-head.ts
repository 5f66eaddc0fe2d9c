import { answerFieldKindOf, answerFieldKinds as kinds } from '../../http/client/answer-fields.ts'
import type { AnswerHead } from '../../http/client/answer-head.ts'
import { nominatedFields } from '../../http/message/grammar.ts'
import { fieldLines } from '../../http/reply.ts'
import type { ResponseHead } from '../../http/server/response.ts'
import type { Exchange } from '../exchange.ts'
import { mergeLimits } from './limit-merge.ts'

/**
 * The upstream's end-to-end fields as they go to the client, then the id and the plan's. Lines that stand together in what
 * came are one piece of it: most answers are two or three.
 */
export const incomingHead = (exchange: Exchange, head: AnswerHead): ResponseHead => {
  const { status, fields, text, lineStarts, connection } = head
  const nominated = nominatedFields(connection)
  const { answerFields } = exchange
  const merge = answerFields.length > 0 ? mergeLimits(name => joinedValue(fields, name), answerFields) : undefined
  let lines = ''
  let length: string | undefined
  let hasDate = false
  let begun = -1
  for (let nth = 0; nth < lineStarts.length; nth++) {
    const name = fields[2 * nth] as string
    const kind = answerFieldKindOf(name)
    const passes =
      (kind === kinds.plain || kind === kinds.date) &&
      !nominated?.has(name.toLowerCase()) &&
      !merge?.dropped.includes(name.toLowerCase())
    const start = lineStarts[nth] as number
    if (passes) {
      if (begun < 0) begun = start
      if (kind === kinds.date) hasDate = true
    } else {
      if (begun >= 0) lines += text.slice(begun, start)
      begun = -1
      if (kind === kinds.contentLength && mayHaveLength(status)) length = fields[2 * nth + 1]
    }
  }
  if (begun >= 0) lines += `${text.slice(begun)}\r\n`
  lines += `x-request-id: ${exchange.context.id}\r\n${fieldLines(merge?.own ?? answerFields)}`
  return { status, lines, length, hasDate }
}

/** RFC 9110 section 8.6: not a 204, nor a 1xx; some servers send one all the same. */
const mayHaveLength = (status: number): boolean => status !== 204 && status >= 200

/** All values of a field in one; undefined where there is none. */
const joinedValue = (fields: readonly string[], name: string): string | undefined => {
  const values = fields.filter((_, place) => place % 2 === 1 && fields[place - 1]?.toLowerCase() === name)
  return values.length === 0 ? undefined : values.join('')
}
