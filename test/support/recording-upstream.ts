import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { listenLocally } from './local-server.ts'

/** A service behind the gateway that writes down what reaches it. */
export interface RecordingUpstream {
  /** Its origin. */
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  /** Bytes that no gateway may send: they are not a request, or its framing is ambiguous. */
  readonly faults: readonly string[]
  /** Connections open now. */
  openConnections(): number
}

export interface RecordedRequest {
  readonly method: string
  readonly target: string
  /** As received. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** The connection it came on, counted from 1. */
  readonly connection: number
}

/** The value of the only field of this name in any case, or undefined. @throws Error where there are several */
export const fieldOf = (request: RecordedRequest | undefined, name: string): string | undefined => {
  const values = (request?.fields ?? []).filter(([found]) => found.toLowerCase() === name).map(([, value]) => value)
  if (values.length > 1) throw new Error(`${name} reached the upstream ${values.length} times`)
  return values[0]
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Node's own HTTP server, whose parser is strict: what it cannot read is a fault. Answers with what it was sent. */
export const startStrictUpstream = async (t: Teardown): Promise<RecordingUpstream> => {
  const requests: RecordedRequest[] = []
  const faults: string[] = []
  const connections = new Map<Socket, number>()
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => {
      const request: RecordedRequest = {
        method: req.method ?? '',
        target: req.url ?? '',
        fields: pairsOf(req.rawHeaders),
        body: Buffer.concat(chunks).toString('latin1'),
        connection: connections.get(req.socket) ?? 0,
      }
      requests.push(request)
      faults.push(...framingFaults(request))
      const body = JSON.stringify({ target: request.target, body: request.body })
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      res.end(body)
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code?.startsWith('HPE_') && error.code !== 'HPE_INVALID_EOF_STATE') faults.push(error.code)
    socket.destroy()
  })
  const url = await listen(t, server, connections)
  return { url, requests, faults, openConnections: () => connections.size }
}

/** The upstream's reaction to a complete request. */
export type Script = (socket: Socket, request: RecordedRequest, count: number) => void

/** Says which request this was, counted over all connections, and repeats its target. */
const countRequests: Script = (socket, { target }, count) => {
  const body = JSON.stringify({ count, target })
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}

/**
 * An upstream that reads bytes for itself and naively: what it takes for a request it counts as one, so that bytes
 * smuggled in behind another request show. It then does as the script says.
 */
export const startCountingUpstream = async (
  t: Teardown,
  script: Script = countRequests,
): Promise<RecordingUpstream> => {
  const requests: RecordedRequest[] = []
  const faults: string[] = []
  const connections = new Map<Socket, number>()
  const server = createServer(socket => {
    let bytes = ''
    socket.on('error', () => undefined)
    socket.on('data', chunk => {
      bytes += chunk.toString('latin1')
      for (;;) {
        const parsed = parseRequest(bytes, connections.get(socket) ?? 0)
        if (parsed === undefined) return
        bytes = parsed.rest
        requests.push(parsed.request)
        faults.push(...framingFaults(parsed.request))
        script(socket, parsed.request, requests.length)
      }
    })
  })
  const url = await listen(t, server, connections)
  return { url, requests, faults, openConnections: () => connections.size }
}

const listen = async (t: Teardown, server: Server, connections: Map<Socket, number>): Promise<string> => {
  let opened = 0
  server.on('connection', (socket: Socket) => {
    opened += 1
    connections.set(socket, opened)
    socket.once('close', () => connections.delete(socket))
  })
  const port = await listenLocally(t, server, connections.keys())
  return `http://127.0.0.1:${port}`
}

const pairsOf = (raw: readonly string[]): readonly (readonly [string, string])[] => {
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return pairs
}

/** RFC 9112 section 6: at most one Content-Length or one `chunked`, and one Host. */
const framingFaults = ({ fields, method, target }: RecordedRequest): readonly string[] => {
  const count = (name: string): number => fields.filter(([found]) => found.toLowerCase() === name).length
  const faults: string[] = []
  if (count('content-length') + count('transfer-encoding') > 1) faults.push('framed in more than one way')
  if (count('host') !== 1) faults.push(`${count('host')} Host fields`)
  if (fields.some(([name]) => name.includes('_'))) faults.push('a field with an underscore')
  return faults.map(fault => `${method} ${target}: ${fault}`)
}

const parseRequest = (
  bytes: string,
  connection: number,
): { readonly request: RecordedRequest; readonly rest: string } | undefined => {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [requestLine = '', ...lines] = bytes.slice(0, headEnd).split('\r\n')
  const [method = '', target = ''] = requestLine.split(' ')
  const fields = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const after = bytes.slice(headEnd + 4)
  const isChunked = fields.some(([name]) => name.toLowerCase() === 'transfer-encoding')
  const length = Number(fields.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0)
  const end = isChunked ? endOfChunks(after) : length
  if (end === undefined || after.length < end) return undefined
  return { request: { method, target, fields, body: after.slice(0, end), connection }, rest: after.slice(end) }
}

/**
 * The end of the last chunk; undefined while more must come; bytes that are not a chunk count to the end. The body is
 * recorded with its chunk lines.
 */
const endOfChunks = (text: string): number | undefined => {
  let at = 0
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (Number.isNaN(size)) return text.length
    at = lineEnd + 2 + size + 2
    if (text.length < at) return undefined
    if (size === 0) return at
  }
}
