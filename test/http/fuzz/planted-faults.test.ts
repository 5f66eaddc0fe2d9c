import t from 'tap'
import { type RefusalReason, refusalReasons } from './refusal-reason.ts'
import { runFuzz } from './run-fuzz.ts'
import type { CreateServerUnderTest, RequestUnderTest } from './server-under-test.ts'
import { createStrictServer } from './strict-server.ts'

/** Whether the comparison notices a fault of this server. */
const isFound = async (createServer: CreateServerUnderTest): Promise<boolean> => {
  const { violations } = await runFuzz({ seed: 1, requests: 12_000, createServer, mostViolations: 1 })
  return violations.length > 0
}

/** Checks without which a server accepts the same as Node. The refusal table has a row for each. */
const checksThatNodeLacks: ReadonlySet<RefusalReason> = new Set([
  'head-too-large',
  'too-many-fields',
  'two-hosts',
  'coding-in-http-1.0',
  'upgrade-with-body',
  'trailers-too-large',
])

for (const reason of refusalReasons) {
  if (checksThatNodeLacks.has(reason)) continue
  t.test(`a server is found that does not check for ${reason}`, async t => {
    t.ok(await isFound(createStrictServer(new Set([reason]))))
  })
}

/** A server that passes on requests in another way than they came. */
const alteringServer =
  (alter: (req: RequestUnderTest) => RequestUnderTest): CreateServerUnderTest =>
  handlers =>
    createStrictServer()({ ...handlers, request: (req, answer) => handlers.request(alter(req), answer) })

const faultyServers: Readonly<Record<string, CreateServerUnderTest>> = {
  'decodes the target': alteringServer(req => ({ ...req, target: req.target.replace('%20', ' ') })),
  'trims values as JavaScript does': alteringServer(req => ({ ...req, rawHeaders: req.rawHeaders.map(x => x.trim()) })),
  'reads bytes as UTF-8': alteringServer(req => ({
    ...req,
    rawHeaders: req.rawHeaders.map(part => Buffer.from(part, 'latin1').toString()),
  })),
  'takes HTTP/1.0 for HTTP/1.1': alteringServer(req => ({ ...req, version: '1.1' })),
  'loses a byte of a body': alteringServer(req => ({
    ...req,
    readBody: (onData, onEnd) => req.readBody(piece => onData(piece.subarray(0, 19)), onEnd),
  })),
  'refuses a good request for a reason of the table': handlers =>
    createStrictServer()({
      ...handlers,
      request: (req, answer) => (req.target === '/?' ? handlers.refused('two-hosts') : handlers.request(req, answer)),
    }),
  'closes each connection after one request': handlers => ({
    accept: socket => {
      createStrictServer()({
        ...handlers,
        request: req => handlers.request(req, () => socket.end()),
      }).accept(socket)
    },
  }),
  'waits for ever': () => ({ accept: () => {} }),
  'reads only the first piece': handlers => ({
    accept: socket => {
      createStrictServer()(handlers).accept(socket)
      const [onData] = socket.listeners('data') as ((piece: Buffer) => void)[]
      socket.removeAllListeners('data')
      if (onData) socket.once('data', onData)
    },
  }),
}

for (const [fault, createServer] of Object.entries(faultyServers)) {
  t.test(`a server is found that ${fault}`, async t => {
    t.ok(await isFound(createServer))
  })
}
