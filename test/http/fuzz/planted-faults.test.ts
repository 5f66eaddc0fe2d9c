import t from 'tap'
import { generateRequests } from './generate-request.ts'
import { createOurServer } from './our-server.ts'
import { createRandomSource } from './random-source.ts'
import { runFuzz } from './run-fuzz.ts'
import type { CreateServerUnderTest, RequestUnderTest } from './server-under-test.ts'

/** Whether the comparison notices a fault of this server. */
const isFound = async (createServer: CreateServerUnderTest): Promise<boolean> => {
  const { violations } = await runFuzz({ seed: 1, requests: 12_000, createServer, mostViolations: 1 })
  return violations.length > 0
}

/** Our server behind something that changes its bytes in latin1, so that it accepts what it would refuse otherwise. */
const serverBehind =
  (change: (text: string) => string): CreateServerUnderTest =>
  handlers => {
    const server = createOurServer(handlers)
    return {
      accept: socket => {
        const push = socket.push.bind(socket)
        socket.push = (piece: Buffer) => push(Buffer.from(change(piece.toString('latin1')), 'latin1'))
        server.accept(socket)
      },
    }
  }

/** Our server, which passes on requests in another way than they came. */
const serverThatAlters =
  (alter: (req: RequestUnderTest) => RequestUnderTest): CreateServerUnderTest =>
  handlers =>
    createOurServer({ ...handlers, request: (req, answer) => handlers.request(alter(req), answer) })

/** Each accepts bytes that Node refuses, or frames them in another way. */
const faultsOfParsing: Readonly<Record<string, (text: string) => string>> = {
  'ends a field with LF alone': text => text.replace(/^([\w-]+: ?\w+)\n/gm, '$1\r\n'),
  'ends a field with CR alone': text => text.replace(/^([\w-]+: ?\w+)\r(?=[\w-]+:)/gm, '$1\r\n'),
  'joins folded lines': text => text.replace(/^([\w-]+: ?\w+)\r\n[ \t]+/gm, '$1 '),
  'drops spaces before the colon': text => text.replace(/^([\w-]+)[ \t]+:/gm, '$1:'),
  'drops bytes of a field name': text => text.replace(/^X-[^\w\r\n-]A/gm, 'X-A'),
  'drops lines without a colon': text => text.replace(/^(?:X-A|Accept|Cookie|A)[ ;]?[\w*/]*\r\n/gm, ''),
  'drops NUL bytes of a field': text => text.replace(/^([\w-]+:.*)\0/gm, '$1'),
  'drops spaces behind the version': text => text.replace(/HTTP\/1.1[ \t]+\r/g, 'HTTP/1.1\r'),
  'takes a tab for a space': text => text.replace(/^(GET|POST)\t\//gm, '$1 /'),
  'takes small methods for large ones': text => text.replace(/^get /gim, 'GET '),
  'takes HTTP/1.2 for HTTP/1.1': text => text.replace(/ HTTP\/1\.2\r/g, ' HTTP/1.1\r'),
  'encodes bytes of a target': text => text.replace(/ (\/\w*)[\x80-\xff]+ /g, ' $1%80 '),
  'drops the sign of a length': text => text.replace(/^(Content-Length:[ \t]*)[+-]/gim, '$1'),
  'reads the first of several lengths': text => text.replace(/^(Content-Length:[ \t]*\d+),.*\r/gim, '$1\r'),
  'reads the beginning of a length': text => text.replace(/^(Content-Length:[ \t]*\d+)(?:[x.]\w*| \d+)/gim, '$1'),
  'prefers the coding to the length': text =>
    text.replace(/^Content-Length: \d+\r\n(Transfer-Encoding: chunked)/gim, '$1'),
  'finds chunked anywhere in a coding': text =>
    text.replace(/^(Transfer-Encoding:[ \t]*)(?:.*[^ \t]chunked|chunked[^ \t\r].*)\r/gim, '$1chunked\r'),
  'ignores codings but chunked': text => text.replace(/^Transfer-Encoding:[ \t]*(?:identity|gzip|)\r\n/gim, ''),
  'drops blanks around a chunk size': text => text.replace(/\r\n *([0-9a-f]+)[ \t]*\r\n/g, '\r\n$1\r\n'),
  'reads a chunk size as JavaScript does': text => text.replace(/\r\n(?:0x|\+)([0-9a-f]+)\r\n/g, '\r\n$1\r\n'),
  'drops a broken extension': text => text.replace(/^([0-9a-f]+)(?:[ \t];a|;[ =;]a?|;a=?"b?|;a b)\r/gm, '$1\r'),
  'ends a chunk with LF alone': text => text.replace(/^hello\n/gm, 'hello\r\n'),
  'drops a length in the trailers': text => text.replace(/(\r\n0\r\n)Content-Length:.*\r\n/gi, '$1'),
  'drops empty trailers': text => text.replace(/(\r\n0\r\n):.*\r\n/g, '$1'),
}

t.test('a good request passes each planted fault unchanged', async t => {
  for (const [fault, change] of Object.entries(faultsOfParsing)) {
    const random = createRandomSource(1)
    const good = Array.from({ length: 500 }, () => generateRequests(random, 0))
    t.same(good.map(change), good, fault)
  }
})

for (const [fault, change] of Object.entries(faultsOfParsing)) {
  t.test(`a server is found that ${fault}`, async t => t.ok(await isFound(serverBehind(change))))
}

const otherFaults: Readonly<Record<string, CreateServerUnderTest>> = {
  'decodes the target': serverThatAlters(req => ({ ...req, target: req.target.replace('%20', ' ') })),
  'trims values as JavaScript does': serverThatAlters(req => ({
    ...req,
    rawHeaders: req.rawHeaders.map(part => part.trim()),
  })),
  'reads bytes as UTF-8': serverThatAlters(req => ({
    ...req,
    rawHeaders: req.rawHeaders.map(part => Buffer.from(part, 'latin1').toString()),
  })),
  'takes HTTP/1.0 for HTTP/1.1': serverThatAlters(req => ({ ...req, version: '1.1' })),
  'loses a byte of a body': serverThatAlters(req => ({
    ...req,
    readBody: (onData, onEnd) => req.readBody(piece => onData(piece.subarray(0, 19)), onEnd),
  })),
  'refuses a good request for a reason of the table': handlers =>
    createOurServer({
      ...handlers,
      request: (req, answer) => (req.target === '/?' ? handlers.refused('two-hosts') : handlers.request(req, answer)),
    }),
  'closes each connection after one request': handlers => ({
    accept: socket => {
      createOurServer({
        ...handlers,
        request: req => handlers.request(req, () => socket.end()),
      }).accept(socket)
    },
  }),
  'waits for ever': () => ({ accept: () => {} }),
  'reads only the first piece': handlers => {
    const server = createOurServer(handlers)
    return {
      accept: socket => {
        const push = socket.push.bind(socket)
        socket.push = (piece: Buffer) => {
          socket.push = () => true
          return push(piece)
        }
        server.accept(socket)
      },
    }
  },
}

for (const [fault, createServer] of Object.entries(otherFaults)) {
  t.test(`a server is found that ${fault}`, async t => t.ok(await isFound(createServer)))
}
