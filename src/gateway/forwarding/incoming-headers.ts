import { answerFieldKindOf, answerFieldKinds } from '../../http/client/answer-fields.ts'
import type { AnswerHead } from '../../http/client/answer-head.ts'
import type { Exchange } from '../exchange.ts'
import { mergeLimits } from './limit-merge.ts'

/** The upstream's end-to-end fields as they go to the client, names and values in turn, then the id and the plan's. */
export const incomingHeaders = (exchange: Exchange, { status, fields, connection }: AnswerHead): string[] => {
  const nominated = connection === '' ? undefined : nominatedFields(connection)
  const { answerFields } = exchange
  const merge = answerFields.length > 0 ? mergeLimits(name => joinedValue(fields, name), answerFields) : undefined
  const headers: string[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string
    const kind = answerFieldKindOf(name)
    const passes = kind === answerFieldKinds.plain || (kind === answerFieldKinds.contentLength && mayHaveLength(status))
    if (!passes || nominated?.has(name.toLowerCase()) || merge?.dropped.includes(name.toLowerCase())) continue
    headers.push(name, fields[i + 1] as string)
  }
  headers.push('x-request-id', exchange.context.id)
  for (const field of merge?.own ?? answerFields) headers.push(field)
  return headers
}

/** RFC 9110 section 8.6: not a 204, nor a 1xx; some servers send one all the same. */
const mayHaveLength = (status: number): boolean => status !== 204 && status >= 200

/** All values of a field in one; undefined where there is none. */
const joinedValue = (fields: readonly string[], name: string): string | undefined => {
  const values = fields.filter((_, place) => place % 2 === 1 && fields[place - 1]?.toLowerCase() === name)
  return values.length === 0 ? undefined : values.join('')
}

/** What `Connection` asks to remove; undefined in the usual cases. Content-Length stays: it frames. */
const nominatedFields = (connection: string): ReadonlySet<string> | undefined => {
  if (connection === 'keep-alive' || connection === 'close') return undefined
  const names = connection.split(',')
  return new Set(names.map(name => name.trim()).filter(name => name !== 'content-length'))
}
