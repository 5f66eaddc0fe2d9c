import type { RandomSource } from '../../fuzz/random-source.ts'

/** The bytes of an answer in latin1, with the method of the request that it answers. */
export interface ResponseCase {
  readonly method: 'GET' | 'HEAD'
  readonly bytes: string
}

/** A well-formed answer, with interim answers before it now and then, and often with odd spellings. */
export const generateResponse = (random: RandomSource): ResponseCase => {
  const interim = random.chance(0.1) ? random.pick(interims) : ''
  const status = random.pick(statuses)
  const body = random.pick(bodies)
  const framing = random.pick(framings)(body, random)
  const lines = shuffled(
    [...Array.from({ length: random.int(5) }, () => random.pick(fields)), ...framing.lines],
    random,
  )
  return {
    method: random.chance(0.1) ? 'HEAD' : 'GET',
    bytes: `${interim}${random.pick(versions)} ${status}\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n${framing.body}`,
  }
}

interface Framed {
  readonly lines: readonly string[]
  readonly body: string
}

type Frame = (body: string, random: RandomSource) => Framed

const byLength: Frame = body => ({ lines: [`Content-Length: ${body.length}`], body })

const byClose: Frame = body => ({ lines: [], body })

const byChunks: Frame = (body, random) => ({
  lines: [random.pick(['Transfer-Encoding: chunked', 'transfer-encoding: Chunked', 'Transfer-Encoding:chunked '])],
  body: chunked(body, random),
})

const byBoth: Frame = (body, random) => ({
  lines: [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'],
  body: chunked(body, random),
})

const framings: readonly Frame[] = [byLength, byLength, byLength, byChunks, byChunks, byChunks, byClose, byBoth]

const chunked = (body: string, random: RandomSource): string => {
  let text = ''
  for (let at = 0; at < body.length; ) {
    const size = 1 + random.int(body.length)
    const piece = body.slice(at, at + size)
    const hex = random.chance(0.5) ? piece.length.toString(16) : `0${piece.length.toString(16).toUpperCase()}`
    text += `${hex}${random.pick(extensions)}\r\n${piece}\r\n`
    at += size
  }
  return `${text}0${random.pick(extensions)}\r\n${random.pick(trailers)}\r\n`
}

const shuffled = (lines: readonly string[], random: RandomSource): readonly string[] => {
  const left = [...lines]
  return lines.flatMap(() => left.splice(random.int(left.length), 1))
}

const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'] as const

const statuses = [
  '200 OK',
  '200 OK',
  '200 ',
  '200',
  '201 Created',
  '204 No Content',
  '205 Reset Content',
  '304 Not Modified',
  '404 Not\tFound',
  '500 Internal Server Error',
  '599 caf\xe9',
  '999 ?',
] as const

const interims = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
] as const

const fields = [
  'Date: Sun, 06 Nov 1994 08:49:37 GMT',
  'Content-Type: application/json',
  'X-A: 1',
  'x-a:2',
  'X-Empty:',
  'X-Blanks: \t a b \t',
  'X-Latin: caf\xe9',
  'Set-Cookie: a=1; Path=/',
  'Set-Cookie: b=2',
  'Connection: close',
  'Connection: keep-alive, X-A',
  'Keep-Alive: timeout=5',
  'Proxy-Connection: close',
  'Upgrade: h2c',
  'Trailer: X-T',
  "!#$%&'*+-.^_`|~: token",
  'ETag: "a"',
] as const

const bodies = [
  '',
  'a',
  'hello',
  '{"a":1}\r\n',
  '0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'x'.repeat(300),
] as const

const extensions = ['', '', '', ';a=b', ';a="b c"', ' ;a', ';', '\t'] as const

const trailers = ['', '', '', 'X-T: 1\r\n', 'Content-Length: 5\r\n', 'Connection: close\r\n'] as const
