import type { ServerResponse } from 'node:http'
import type { Duplex, Readable } from 'node:stream'

/** For how long the client may be silent, and how long it may take in all, before its connection is closed anyway. */
const silenceMs = 1000
const longestMs = 10_000

/** Connections whose last answer is said. */
const ending = new WeakSet<Duplex>()

/** Whether nothing more is answered on a connection: what else comes there is no request, whatever it looks like. */
export const isEnding = (socket: Duplex): boolean => ending.has(socket)

/** To be called when the last answer of a connection has begun. */
export const markEnding = (socket: Duplex): void => void ending.add(socket)

/** Whether an answer is the last of its connection while the client is still sending its request. */
export const endsEarly = (res: ServerResponse): boolean =>
  !res.shouldKeepAlive && !res.req.complete && !res.req.readableEnded && res.socket !== null

/**
 * Ends the connection of such an answer, all of which must have been written: at once for what is sent, and for what is
 * read once the request has ended. A connection that is closed with bytes unread is reset, and with it goes what the client
 * has not read of the answer (RFC 9112 section 9.6).
 */
export const endLingering = ({ req, socket }: ServerResponse): void => {
  if (socket === null) return
  markEnding(socket)
  socket.end()
  // The answer's may be a stream of Node's before it: where a handshake has a body.
  dropRest(req, () => req.socket.destroySoon())
}

/** Ends in the same way a connection that asked for another protocol and was refused: Node looks after it no more. */
export const endRefused = (socket: Duplex): void => {
  socket.end()
  dropRest(socket, () => socket.destroy())
}

/** Reads what still comes, until it ends or takes too long. */
const dropRest = (source: Readable, then: () => void): void => {
  const close = (): void => {
    clearTimeout(silence)
    clearTimeout(longest)
    source.off('data', onData).off('end', close).off('close', close)
    then()
  }
  const onData = (): void => void silence.refresh()
  const silence = setTimeout(close, silenceMs)
  const longest = setTimeout(close, longestMs)
  source.on('data', onData).on('end', close).on('close', close)
}
