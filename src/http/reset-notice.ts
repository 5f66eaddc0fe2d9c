import type { Socket } from 'node:net'

/**
 * Ends a connection that the other side has reset while nobody reads it: of that there is no event, but who writes is told,
 * though it be nothing. TLS keeps the news to itself, so that is passed by; for the socket below Node has no public name.
 */
export const noticeReset = (socket: Socket): void => {
  // What is still to be written brings the news by itself.
  if (socket.destroyed || socket.writableLength > 0) return
  const { _parent: below } = socket as Socket & { _parent?: Socket | null }
  const written = below ?? socket
  if (written.writable) written.write('')
}
