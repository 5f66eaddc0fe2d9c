import { connect, createServer, type Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { Connection, RoundTripHandler } from '../../../../src/http/client/connection.ts'
import type { OpenSocket } from '../../../../src/http/client/connector.ts'
import type { RoundTripError } from '../../../../src/http/client/errors.ts'
import { type ConnectionPool, createPool } from '../../../../src/http/client/pool.ts'
import type { UpstreamRequest } from '../../../../src/http/client/request.ts'
import type { UpstreamHead } from '../../../../src/http/client/response-head.ts'
import type { ConnectionLimits } from '../../../../src/http/client/timeouts.ts'
import { listenLocally } from '../../../support/local-server.ts'

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** So long that none ends while a test runs; a test shortens the one it is about. */
const patient: ConnectionLimits = {
  connectTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
  bodyTimeoutMs: 60_000,
  totalTimeoutMs: Number.POSITIVE_INFINITY,
  keepAliveMs: 60_000,
}

/** The connections to a server, closed with the test. @param open how they are opened, where not as the gateway does */
export const openPool = (
  t: Teardown,
  url: string,
  limits: Partial<ConnectionLimits> = {},
  open: OpenSocket = tcp(url),
): ConnectionPool => {
  const pool = createPool(open, { ...patient, ...limits })
  t.teardown(() => pool.close())
  return pool
}

/** Opens plain connections. */
export const tcp =
  (url: string): OpenSocket =>
  (onread, onReady) =>
    connect({ host: '127.0.0.1', port: Number(new URL(url).port), ...(onread && { onread }) }, onReady)

/** A server that does with each connection what the test says. */
export interface ScriptedServer {
  readonly url: string
  /** All that have come, in order. */
  readonly sockets: readonly Socket[]
  openConnections(): number
}

/** @param onConnection `count` from 1 on @param server of plain TCP where left out */
export const startServer = async (
  t: Teardown,
  onConnection: (socket: Socket, count: number) => void,
  server: Server = createServer(),
): Promise<ScriptedServer> => {
  const sockets: Socket[] = []
  const isSecure = server instanceof TlsServer
  server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    // Without a reader a half-closed connection would count as open.
    socket.resume()
    onConnection(socket, sockets.length)
  })
  const port = await listenLocally(t, server, sockets)
  return {
    url: `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`,
    sockets,
    openConnections: () => sockets.filter(socket => !socket.closed).length,
  }
}

/** Answers every request, taken for one wherever bytes come, with the same ones. */
export const answering =
  (bytes: string) =>
  (socket: Socket): void =>
    void socket.on('data', () => socket.write(bytes, 'latin1'))

export const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'

export const get: UpstreamRequest = {
  method: 'GET',
  head: 'GET / HTTP/1.1\r\nHost: up.test\r\n\r\n',
  body: undefined,
  isChunked: false,
  maxBodyBytes: Number.POSITIVE_INFINITY,
  startedAtMs: 0,
}

/** A request under way, and what comes of it. */
export class RoundTrip implements RoundTripHandler {
  readonly connection: Connection
  head: UpstreamHead | undefined
  body = ''
  readonly #settled = Promise.withResolvers<RoundTripError | undefined>()

  constructor(pool: ConnectionPool, request: UpstreamRequest = get) {
    this.connection = pool.send(request, this)
  }

  /** Resolves once it has ended: with the failure, if it has failed. */
  get failure(): Promise<RoundTripError | undefined> {
    return this.#settled.promise
  }

  onHead(head: UpstreamHead): void {
    this.head = head
  }

  onData(piece: Buffer): void {
    this.body += piece.toString('latin1')
  }

  onEnd(): void {
    this.#settled.resolve(undefined)
  }

  onFail(error: RoundTripError): void {
    this.#settled.resolve(error)
  }
}

/** The body of the answer to a request. @throws RoundTripError */
export const ask = async (pool: ConnectionPool, request: UpstreamRequest = get): Promise<string> => {
  const trip = new RoundTrip(pool, request)
  const failure = await trip.failure
  if (failure) throw failure
  return trip.body
}
