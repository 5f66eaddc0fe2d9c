import { ResponseParser } from '../../../../src/http/client/response-parser.ts'
import { InvalidMessageError } from '../../../../src/http/message/invalid-message.ts'
import type { ResponseCase } from './generate-response.ts'
import { comparableFields, type ResponseReading } from './response-reading.ts'

/** How the parser of our client reads an answer that comes in these pieces, behind which the connection ends. */
export const readAsOurs = ({ method }: ResponseCase, pieces: readonly Buffer[]): ResponseReading => {
  let body = ''
  const parser = new ResponseParser(method, {
    onHead: () => undefined,
    onData: piece => {
      body += piece.toString('latin1')
    },
    onEnd: () => undefined,
  })
  try {
    for (const piece of pieces) if (!parser.isDone) parser.read(piece)
    if (!parser.isDone) parser.finish()
  } catch (error) {
    if (!(error instanceof InvalidMessageError)) throw error
    return { is: 'refused', reason: error.reason }
  }
  const { head } = parser
  if (head === undefined) throw new Error('the answer has ended without a head')
  return { is: 'accepted', status: head.status, fields: comparableFields(head.fields), body }
}
