import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** A service that speaks WebSocket (RFC 6455) as far as short text messages go, and echoes them. */
export interface WebSocketUpstream {
  readonly url: string
  /** The handshakes that reached it. */
  readonly handshakes: readonly IncomingMessage[]
  /** Connections of handshakes open now. */
  open(): readonly Duplex[]
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Of the answer to `refused-at-length`: more than the buffers of a connection hold. */
export const longRefusalBytes = 16 * 1024 * 1024

/**
 * Answers by the last segment of the path: `refused` and `refused-at-length` get 403, `silent` gets nothing, all
 * others 101.
 */
export const startWebSocketUpstream = async (t: Teardown): Promise<WebSocketUpstream> => {
  const handshakes: IncomingMessage[] = []
  const sockets = new Set<Duplex>()
  const server = createServer((_req, res) => res.end('not a WebSocket'))
  server.on('upgrade', (req, socket: Duplex) => {
    handshakes.push(req)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.on('end', () => socket.end())
    socket.resume()
    if (req.url?.endsWith('/silent')) return
    if (req.url?.endsWith('/refused')) {
      socket.end(
        'HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\nx-request-id: evil\r\nratelimit: "inner";r=0;t=9\r\n\r\nnot so',
      )
      return
    }
    if (req.url?.endsWith('/refused-at-length')) {
      socket.write(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${longRefusalBytes}\r\n\r\n`)
      socket.end(Buffer.alloc(longRefusalBytes, 'a'))
      return
    }
    socket.write(acceptance(req.headers['sec-websocket-key'] ?? ''))
    socket.on('data', chunk => {
      socket.write(echoOf(chunk))
      if (isClose(chunk)) socket.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, handshakes, open: () => [...sockets] }
}

/** RFC 6455 section 1.3: a constant of the protocol. */
const handshakeGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

const acceptance = (key: string): string => {
  const accept = createHash('sha1')
    .update(key + handshakeGuid)
    .digest('base64')
  return `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`
}

const maskedHeaderBytes = 6

/** RFC 6455 section 7.1.1: once both have said Close, the server closes the connection. */
const isClose = (frames: Buffer): boolean => ((frames[0] ?? 0) & 0x0f) === 8

/** The frames of a client, unmasked (RFC 6455 section 5.2); whole ones of up to 125 bytes. */
const echoOf = (frames: Buffer): Buffer => {
  const echoes: Buffer[] = []
  for (let at = 0; at < frames.length; ) {
    const length = (frames[at + 1] ?? 0) & 0x7f
    const mask = frames.subarray(at + 2, at + maskedHeaderBytes)
    const content = frames.subarray(at + maskedHeaderBytes, at + maskedHeaderBytes + length)
    echoes.push(Buffer.from([frames[at] ?? 0, length, ...content.map((byte, i) => byte ^ (mask[i % 4] ?? 0))]))
    at += maskedHeaderBytes + length
  }
  return Buffer.concat(echoes)
}
