import type { Socket } from 'node:net'
import { createServer, type Server, TLSSocket, type TlsOptions } from 'node:tls'
import { setTransport } from '../message/detect-reset.ts'
import type { DropReason } from './options.ts'
import type { Ticked } from './timeout-ticker.ts'

/** The source of the options of TLS handshakes. */
export interface HandshakeSource {
  readonly serverOptions: TlsOptions
  /** New handshakes of this server get the certificate that is valid then. */
  attach(server: Server): void
  /** Called when other CAs verify clients. */
  onClientCaChange: (() => void) | undefined
}

export interface TlsAcceptorOptions {
  /** Longest time for the client's first byte, and for the handshake from then on; 0: no limit. */
  readonly timeoutMs: number
  /** The handshake is complete. */
  onSecure(socket: TLSSocket): void
  onDropped(reason: DropReason): void
  /** A connection waits for its first byte; `onSettled` follows. */
  onWaiting(waiting: WaitingConnection): void
  onSettled(waiting: WaitingConnection): void
}

/** A TLS connection that has sent nothing. */
export interface WaitingConnection extends Ticked {
  closeIfIdle(): boolean
}

/**
 * Turns TCP connections into TLS ones. Before its first byte a connection is a plain socket: the state of a handshake
 * is five times as large, and thousands of connections may send nothing.
 */
export class TlsAcceptor {
  readonly #options: TlsAcceptorOptions
  readonly #server: Server
  /** By the addresses of both ends, until the handshake is complete. */
  readonly #pending = new Map<string, Socket>()

  constructor(source: HandshakeSource, options: TlsAcceptorOptions) {
    this.#options = options
    const handshakeTimeout = options.timeoutMs
    this.#server = createServer({ ...source.serverOptions, ...(handshakeTimeout > 0 && { handshakeTimeout }) })
    source.attach(this.#server)
    this.#server.on('secureConnection', socket => this.#onSecure(socket))
    this.#server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      socket.destroy()
      if (error.code !== 'ECONNRESET') options.onDropped('tls')
    })
  }

  accept(socket: Socket): void {
    const { timeoutMs, onDropped, onWaiting, onSettled } = this.#options
    let sinceMs = 0
    const waiting: WaitingConnection = {
      tick(nowMs) {
        if (sinceMs === 0) sinceMs = nowMs
        else if (timeoutMs > 0 && nowMs - sinceMs >= timeoutMs) {
          onDropped('timeout')
          socket.destroy()
        }
      },
      closeIfIdle() {
        if (socket.destroyed) return false
        socket.destroy()
        return true
      },
    }
    onWaiting(waiting)
    const destroy = (): void => void socket.destroy()
    const settle = (): void => onSettled(waiting)
    socket.once('data', (bytes: Buffer) => {
      settle()
      socket.pause()
      socket.off('error', destroy).off('end', destroy).off('close', settle)
      socket.unshift(bytes)
      this.#handshake(socket)
    })
    socket.on('error', destroy).on('end', destroy).on('close', settle)
  }

  hasClientCertificate(socket: Socket): boolean {
    return socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined
  }

  #handshake(socket: Socket): void {
    const end = otherEnd(socket)
    this.#pending.set(end, socket)
    socket.once('close', () => {
      if (this.#pending.get(end) === socket) this.#pending.delete(end)
    })
    // Node documents that a connection may be passed to a TLS server in this way.
    this.#server.emit('connection', socket)
  }

  #onSecure(socket: TLSSocket): void {
    const end = otherEnd(socket)
    const transport = this.#pending.get(end)
    this.#pending.delete(end)
    if (transport) setTransport(socket, transport)
    this.#options.onSecure(socket)
  }
}

const otherEnd = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`
