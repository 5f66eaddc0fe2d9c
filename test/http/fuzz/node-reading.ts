import type { IncomingMessage } from 'node:http'
import { nodeHttp } from '../../../src/node-http.ts'
import { MemorySocket } from './memory-socket.ts'
import type { End, Message, Reading } from './reading.ts'

/** Reads these bytes with Node's own server, in one piece. */
export const readAsNode = (bytes: Buffer): Reading => {
  const socket = new MemorySocket()
  requests = []
  end = { is: 'open' }
  withoutStackTraces(() => {
    server.emit('connection', socket)
    socket.emit('data', bytes)
    // Node gives the parser back to its pool.
    socket.emit('close')
  })
  return { messages: requests.map(toMessage), end }
}

let requests: IncomingMessage[] = []
let end: End = { is: 'open' }

const toMessage = (req: IncomingMessage): Message => ({
  method: req.method ?? '',
  target: req.url ?? '',
  version: req.httpVersion,
  fields: req.rawHeaders,
  body: bodyOf(req),
  isComplete: req.complete,
  trailers: req.rawTrailers,
})

const bodyOf = (req: IncomingMessage): string => {
  let body = ''
  for (let piece = nextPiece(req); piece !== null; piece = nextPiece(req)) body += piece.toString('latin1')
  return body
}

const nextPiece = (req: IncomingMessage): Buffer | null => req.read() as Buffer | null

/** Node creates an error for each message that is not answered. With a stack trace it costs more than the parsing. */
const withoutStackTraces = (run: () => void): void => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    run()
  } finally {
    Error.stackTraceLimit = limit
  }
}

/** Only a GET in HTTP/1.1 is upgraded, and only to a WebSocket, as in the server under test. */
export const isWebSocketUpgrade = (method: string, version: string, upgrade: string | undefined): boolean =>
  method === 'GET' && version === '1.1' && upgrade?.toLowerCase() === 'websocket'

const createServer = () => {
  const server = nodeHttp().createServer({
    insecureHTTPParser: false,
    requireHostHeader: false,
    // Larger than any generated head: how the two count bytes is not compared.
    maxHeaderSize: 1_000_000,
    shouldUpgradeCallback: req => isWebSocketUpgrade(req.method ?? '', req.httpVersion, req.headers.upgrade),
  })
  server.maxHeadersCount = 0
  const onRequest = (req: IncomingMessage): void => void requests.push(req)
  const onUpgrade = (req: IncomingMessage, _socket: unknown, rest: Buffer): void => {
    requests.push(req)
    end = { is: 'upgraded', rest: rest.toString('latin1') }
  }
  server.on('request', onRequest)
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('upgrade', onUpgrade)
  server.on('connect', onUpgrade)
  server.on('clientError', (error: NodeJS.ErrnoException) => {
    const reason = error.code ?? error.message
    end = reason === 'HPE_CLOSED_CONNECTION' ? { is: 'closed' } : { is: 'refused', reason }
  })
  return server
}

const server = createServer()
