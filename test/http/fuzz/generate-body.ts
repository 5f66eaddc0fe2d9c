import { generateFieldLine, generateLineEnd } from './generate-fields.ts'
import type { RandomSource } from './random-source.ts'

/** The field lines that frame a body, and the bytes of the body. */
export interface GeneratedBody {
  readonly lines: readonly string[]
  readonly bytes: string
}

export const generateBody = (random: RandomSource, oddity: number): GeneratedBody => {
  if (random.chance(oddity / 3)) return oddlyFramed(random, oddity)
  switch (random.int(3)) {
    case 0:
      return { lines: [], bytes: '' }
    case 1:
      return byLength(random, oddity)
    default:
      return inChunks(random, oddity)
  }
}

const byLength = (random: RandomSource, oddity: number): GeneratedBody => {
  const content = random.pick(contents)
  const length = random.chance(0.1) ? `0${content.length}` : `${content.length}`
  const bytes = random.chance(oddity / 8) ? random.pick([content.slice(1), `${content}x`, '']) : content
  return { lines: [generateFieldLine(random, oddity, 'Content-Length', length)], bytes }
}

const inChunks = (random: RandomSource, oddity: number): GeneratedBody => {
  const coding = random.chance(0.1) ? 'Chunked' : 'chunked'
  return { lines: [generateFieldLine(random, oddity, 'Transfer-Encoding', coding)], bytes: chunksOf(random, oddity) }
}

/** One or two fields that say how long the body is, before a body that fits one of the ways to read them. */
const oddlyFramed = (random: RandomSource, oddity: number): GeneratedBody => {
  const one = framingField(random)
  const fields = random.chance(0.5) ? [one] : [one, framingField(random)]
  return {
    lines: fields.map(([name, value]) => generateFieldLine(random, oddity, name, value)),
    bytes: random.chance(0.5) ? random.pick(contents) : chunksOf(random, oddity),
  }
}

const framingField = (random: RandomSource): readonly [name: string, value: string] =>
  random.chance(0.5) ? ['Content-Length', random.pick(lengths)] : ['Transfer-Encoding', random.pick(codings)]

const chunksOf = (random: RandomSource, oddity: number): string => {
  let text = ''
  for (let left = random.int(4); left > 0; left--) text += chunk(random, oddity, random.pick(contents) || 'a')
  const last = random.chance(oddity / 8) ? random.pick(oddLastSizes) : random.pick(['0', '0', '0', '000'])
  const end = random.chance(oddity / 8) ? random.pick(oddEnds) : generateLineEnd(random, oddity)
  return `${text}${last}${extension(random, oddity)}${generateLineEnd(random, oddity)}${trailers(random, oddity)}${end}`
}

const chunk = (random: RandomSource, oddity: number, content: string): string => {
  const size = content.length.toString(16)
  const written = random.chance(oddity / 4)
    ? oddSize(random, size)
    : random.pick([size, size, `0${size}`, size.toUpperCase()])
  const line = `${written}${extension(random, oddity)}${generateLineEnd(random, oddity)}`
  return `${line}${content}${generateLineEnd(random, oddity)}`
}

const oddSize = (random: RandomSource, size: string): string =>
  random.pick([
    `+${size}`,
    `-${size}`,
    `0x${size}`,
    ` ${size}`,
    `${size} `,
    `${size}\t`,
    `${size}g`,
    `${size}\0`,
    `${size},${size}`,
    '',
    'g',
    'ffffffffffffffff',
    '10000000000000005',
    `${'0'.repeat(30)}${size}`,
    `${size}.0`,
    (Number.parseInt(size, 16) + 1).toString(16),
    (Number.parseInt(size, 16) - 1).toString(16),
  ])

const extension = (random: RandomSource, oddity: number): string => {
  if (random.chance(oddity / 4)) return random.pick(oddExtensions)
  return random.chance(0.1) ? random.pick(extensions) : ''
}

const trailers = (random: RandomSource, oddity: number): string => {
  if (random.chance(oddity / 4)) return generateFieldLine(random, oddity, ...random.pick(oddTrailers))
  return random.chance(0.1) ? generateFieldLine(random, oddity, 'X-T', 'a') : ''
}

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: b.test\r\n\r\n'

const contents = [
  'hello',
  'a',
  '',
  smuggled,
  '0\r\n\r\n',
  '\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'x'.repeat(20),
  '\0\xff',
] as const

const lengths = [
  ...['5', '5', '0', '1', '05', '40', '+5', '-5', '-0', '0x5', '5x', '5.0', '1e1', '5 5', '5, 5', '5,5', '5,10', ''],
  ...['999999999999999', '1000000000000000', '9999999999999999', '18446744073709551615', '18446744073709551621'],
  ...['5\0', '\x0b5', '"5"', '5;a', '\xb2', '5_0', '0000000000000000000005'],
] as const

const codings = [
  ...['chunked', 'chunked', 'Chunked', 'CHUNKED', 'xchunked', 'chunkedx', 'chunk', 'identity', 'gzip', ''],
  ...['chunked, gzip', 'gzip, chunked', 'gzip,chunked', 'chunked, chunked', 'identity, chunked', 'chunked, identity'],
  ...[
    'chunked,',
    ', chunked',
    'chunked;a=b',
    '"chunked"',
    'chunked chunked',
    'chunked\0',
    '\x0bchunked',
    'a;b="chunked',
  ],
] as const

const extensions = [';a', ';a=b', ';a="b"', ';a="b;c=\\"d\\""', ';a;b=c'] as const

const oddExtensions: readonly string[] = [
  ';',
  ';=',
  ';a=',
  ';=b',
  ';;a',
  ' ;a',
  '\t;a',
  '; a',
  ';a =b',
  ';a= b',
  ';a b',
  ';a="',
  ';a="b',
  ';a="\xe4"',
  ';a="b"c',
  ';a\n',
  ';a\r',
  ';a\0',
  ';a="\n"',
  ';a\xe4',
  ';a="\\',
  ';"a"',
  ' a',
  `;${'a'.repeat(5000)}`,
  `;${'a'.repeat(17_000)}`,
]

const oddTrailers: readonly (readonly [string, string])[] = [
  ['Content-Length', '5'],
  ['Content-Length', 'x'],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', 'gzip'],
  ['Host', 'b.test'],
  ['Connection', 'close'],
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Proxy-Connection', 'close'],
  ['', 'a'],
  ['X T', 'a'],
  ['X-\0T', 'a'],
  ['X-T', 'a\0'],
  ['X-T', 'a\rb'],
  ['X-T', 'a'.repeat(17_000)],
  ['X-T', `${'a'.repeat(9000)}\r\nX-U: ${'a'.repeat(9000)}`],
]

const oddLastSizes = ['', '-0', '0x0', ' 0', '0 ', '00000000000000000000000000', '0,0', '1', 'g'] as const
const oddEnds = ['', '\r', '\n', '\n\n', '\r\nx', ' \r\n', '\r\r\n', '\n\r\n'] as const
