import type { Socket } from 'node:net'

/** Receives the events of a socket. */
export interface SocketListener {
  onData(bytes: Buffer): void
  /** The peer has sent its FIN. */
  onEnd(): void
  onDrain(): void
  onClose(): void
}

const key = Symbol('connection')

type OwnedSocket = Socket & { [key]?: SocketListener }

/**
 * Connects a socket to its listener. One set of functions serves all sockets, because closures would take memory for
 * each socket.
 */
export const listenTo = (socket: Socket, listener: SocketListener): void => {
  ;(socket as OwnedSocket)[key] = listener
  socket.on('data', onData).on('end', onEnd).on('drain', onDrain).on('error', onError).on('close', onClose)
}

/** From now on the listener receives only the close. */
export const stopListeningTo = (socket: Socket): void => {
  socket.off('data', onData).off('end', onEnd).off('drain', onDrain)
}

function onData(this: OwnedSocket, bytes: Buffer): void {
  this[key]?.onData(bytes)
}

function onEnd(this: OwnedSocket): void {
  this[key]?.onEnd()
}

function onDrain(this: OwnedSocket): void {
  this[key]?.onDrain()
}

function onError(this: Socket): void {
  this.destroy()
}

function onClose(this: OwnedSocket): void {
  this[key]?.onClose()
  // So that V8 frees the socket in a minor GC.
  this.removeAllListeners()
}
