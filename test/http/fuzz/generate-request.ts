import { generateBody } from './generate-body.ts'
import { generateFields, generateLineEnd } from './generate-fields.ts'
import { generateRequestLine } from './generate-request-line.ts'
import type { RandomSource } from './random-source.ts'

/**
 * The bytes of one connection in latin1: one to three requests, and now and then other bytes around them.
 * @param oddity from 0, where every request follows RFC 9112, to 1, where hardly anything does
 */
export const generateRequests = (random: RandomSource, oddity: number): string => {
  let text = ''
  for (let left = random.pick([1, 1, 2, 3]); left > 0; left--) {
    if (random.chance(oddity / 8)) text += random.pick(betweenRequests)
    else if (random.chance(0.02)) text += '\r\n'
    text += generateRequest(random, oddity)
  }
  return random.chance(oddity / 8) ? text + random.pick(betweenRequests) : text
}

const generateRequest = (random: RandomSource, oddity: number): string => {
  const body = generateBody(random, oddity)
  const fields = shuffled(random, [...generateFields(random, oddity), ...body.lines])
  const start = generateRequestLine(random, oddity) + generateLineEnd(random, oddity)
  return `${start}${fields.join('')}${generateLineEnd(random, oddity)}${body.bytes}`
}

const shuffled = (random: RandomSource, lines: readonly string[]): readonly string[] => {
  const at = random.int(lines.length + 1)
  return [...lines.slice(at), ...lines.slice(0, at)]
}

/** Empty lines, halves of line ends, and the first bytes of other protocols. */
const betweenRequests: readonly string[] = [
  '\r\n',
  '\r\n\r\n',
  '\r\n'.repeat(20),
  '\n',
  '\r',
  '\n\r',
  ' ',
  '\0',
  ' \r\n',
  '0\r\n\r\n',
  'x',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'HTTP/1.1 200 OK\r\n\r\n',
  'GET /\r\n',
  '\xef\xbb\xbf',
]
