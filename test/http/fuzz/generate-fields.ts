import type { RandomSource } from './random-source.ts'

/** One line end, nearly always CR LF. */
export const generateLineEnd = (random: RandomSource, oddity: number): string =>
  random.chance(oddity / 8) ? random.pick(oddLineEnds) : '\r\n'

/** Field lines with their line ends, without those that frame the body. */
export const generateFields = (random: RandomSource, oddity: number): readonly string[] => {
  const lines = random.chance(oddity / 60)
    ? Array.from({ length: 97 + random.int(6) }, () => fieldLine(random, 0))
    : Array.from({ length: random.int(5) }, () => fieldLine(random, oddity))
  if (!random.chance(oddity / 2)) lines.unshift('Host: a.test\r\n')
  if (random.chance(oddity / 60)) lines.push(`X-Long: ${'a'.repeat(15_800 + random.int(800))}\r\n`)
  return lines
}

/** One field line with these parts, each of which may be made odd. */
export const generateFieldLine = (random: RandomSource, oddity: number, name: string, value: string): string => {
  const colon = random.chance(oddity / 8) ? random.pick(oddColons) : random.pick(colons)
  const written = random.chance(0.1) ? random.pick([name.toLowerCase(), name.toUpperCase()]) : name
  const fold = random.chance(oddity / 16) ? random.pick(folds) : ''
  const blank = random.chance(0.05) ? random.pick([' ', '\t', ' \t ']) : ''
  return `${written}${colon}${value}${fold}${blank}${generateLineEnd(random, oddity)}`
}

const fieldLine = (random: RandomSource, oddity: number): string => {
  const name = random.chance(oddity / 4) ? nameWith(oddByte(random), random) : random.pick(names)
  const value = random.chance(oddity / 4) ? valueWith(oddByte(random), random) : random.pick(values)
  if (random.chance(0.15)) return generateFieldLine(random, oddity, ...random.pick(meaningful))
  return generateFieldLine(random, oddity, name, value)
}

const oddByte = (random: RandomSource): string =>
  random.chance(0.5) ? String.fromCharCode(random.int(256)) : random.pick(['\0', '\r', '\n', ' ', '\t', '\x7f', '\xff'])

const nameWith = (byte: string, random: RandomSource): string =>
  random.pick([`X-${byte}A`, `${byte}X-A`, `X-A${byte}`, byte, ''])

const valueWith = (byte: string, random: RandomSource): string =>
  random.pick([`a${byte}b`, `${byte}b`, `a${byte}`, byte, `a${byte}Content-Length: 3`, `"${byte}"`])

const names = ['X-A', 'Accept', 'Cookie', 'A', "!#$%&'*+-.^_`|~", 'Content_Length', 'X-Transfer-Encoding'] as const

const values = ['a', '', 'a b', 'a, b', '"a"', '\xe4\xf6', 'a\tb', '*/*', ':', 'chunked', '5', "('{}')"] as const

/** Fields that decide on the connection, on the routing or on the body. */
const meaningful: readonly (readonly [string, string])[] = [
  ['Connection', 'close'],
  ['Connection', 'keep-alive'],
  ['Connection', 'Keep-Alive, Upgrade'],
  ['Connection', 'Upgrade'],
  ['Connection', 'close, keep-alive'],
  ['Connection', ' , close , '],
  ['Connection', 'close x'],
  ['Connection', 'closed'],
  ['Connection', 'Content-Length, Host'],
  ['Proxy-Connection', 'close'],
  ['Proxy-Connection', 'keep-alive'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['Host', 'a.test'],
  ['Host', 'b.test'],
  ['Host', ''],
  ['Host', 'a, b'],
  ['Expect', '100-continue'],
  ['Expect', '200-ok'],
  ['Trailer', 'X-T'],
  ['TE', 'trailers'],
  ['Content-Length', '0'],
  ['Transfer-Encoding', 'chunked'],
]

const colons = [': ', ': ', ': ', ': ', ':', ':\t', ':  '] as const
const oddColons = [' :', '\t:', ' ', '', '::', ':\0', ';', ':\r', ':\n', '\0:', ':\r\n ', ':\x0b'] as const
const folds = ['\r\n ', '\r\n b', '\r\n\tb', '\n b', '\r b', '\r\n \r\n b', '\r\n  Transfer-Encoding: chunked'] as const
const oddLineEnds = ['\n', '\r', '\r\r\n', '\n\r', '\r\n\r', ' \r\n', '\0\r\n', '\x85', '', '\x0b\r\n'] as const
