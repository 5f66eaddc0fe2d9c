import type { RandomSource } from './random-source.ts'

/**
 * Changes some bytes, in latin1.
 * @param other bytes of another connection, to splice with
 */
export const mutateRequests = (random: RandomSource, text: string, other: string): string => {
  let mutated = text
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left--) {
    mutated = random.pick(mutations)(mutated, random, other)
  }
  return mutated
}

type Mutation = (text: string, random: RandomSource, other: string) => string

const flipBit: Mutation = (text, random) => {
  const at = placeIn(text, random)
  return replace(text, at, 1, String.fromCharCode((text.charCodeAt(at) || 0) ^ (1 << random.int(8))))
}

const flipCase: Mutation = (text, random) => {
  const at = placeIn(text, random)
  return replace(text, at, 1, String.fromCharCode((text.charCodeAt(at) || 0) ^ 0x20))
}

const setByte: Mutation = (text, random) => replace(text, placeIn(text, random), 1, random.pick(interestingBytes))

const insertByte: Mutation = (text, random) => replace(text, placeIn(text, random), 0, random.pick(interestingBytes))

const insertToken: Mutation = (text, random) => replace(text, placeIn(text, random), 0, random.pick(interestingTokens))

const insertLine: Mutation = (text, random) => {
  const at = text.indexOf('\n', placeIn(text, random)) + 1
  return replace(text, at, 0, random.pick(interestingLines))
}

const deleteByte: Mutation = (text, random) => replace(text, placeIn(text, random), 1, '')

const deleteRange: Mutation = (text, random) => replace(text, placeIn(text, random), 1 + random.int(20), '')

const duplicateRange: Mutation = (text, random) => {
  const at = placeIn(text, random)
  return replace(text, at, 0, text.slice(at, at + 1 + random.int(40)))
}

const duplicateLine: Mutation = (text, random) => {
  const start = text.lastIndexOf('\n', placeIn(text, random)) + 1
  const end = text.indexOf('\n', start) + 1
  return end === 0 ? text : replace(text, start, 0, text.slice(start, end))
}

const changeLineEnd: Mutation = (text, random) => {
  const at = text.indexOf('\r\n', placeIn(text, random))
  return at < 0 ? text : replace(text, at, 2, random.pick(['\n', '\r', '\r\r\n', '\n\r', ' \r\n', '\r\n ', '\r\n\r\n']))
}

const truncate: Mutation = (text, random) => text.slice(0, placeIn(text, random))

const splice: Mutation = (text, random, other) =>
  text.slice(0, placeIn(text, random)) + other.slice(placeIn(other, random))

const mutations = [
  flipBit,
  flipCase,
  setByte,
  insertByte,
  insertToken,
  insertLine,
  deleteByte,
  deleteRange,
  duplicateRange,
  duplicateLine,
  changeLineEnd,
  truncate,
  splice,
] as const

const placeIn = (text: string, random: RandomSource): number => random.int(text.length)

const replace = (text: string, at: number, length: number, by: string): string =>
  text.slice(0, at) + by + text.slice(at + length)

const interestingBytes = [...'\0\t\n\v\f\r\x1b !"#%+,-./01:;=@[\\]x\x7f\x80\x85\xa0\xff']

const interestingTokens = [
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '\r\n ',
  '0\r\n\r\n',
  'chunked',
  ', ',
  '5',
  ' HTTP/1.1',
  ' HTTP/1.0',
  '00000000000000000',
  '\xc3\xa9',
] as const

const interestingLines = [
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Host: b.test\r\n',
  ' folded\r\n',
  'X-A : 1\r\n',
  'X-A\r\n',
  ': 1\r\n',
  '\r\n',
  '\n',
] as const
