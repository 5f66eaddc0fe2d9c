import type { ServerResponse } from 'node:http'
import { endLingering, endsEarly } from '../../http/lingering-end.ts'

/** An event stream may be silent for long, and its client waits for the header. Node keeps that back until a byte follows. */
export const flushHeader = (res: ServerResponse): void => {
  const { _headerSent, _send } = res as unknown as HeldResponse
  // As `flushHeaders`, which would take each byte above 0x7f of a field for a character, and send two.
  if (!res.destroyed && !res.writableEnded && !_headerSent) _send.call(res, '', 'latin1')
}

/** `headersSent` says that the header is made; there are no public names for its having been handed to the socket, and for that. */
interface HeldResponse {
  readonly _headerSent: boolean
  _send(data: string, encoding: 'latin1'): void
}

/** Up to this size a copy as text, which joins the header in one plain write, is cheaper than a gathering write. */
const joinedBytes = 8192

/** Ends an answer with the last bytes of its length: header, body and end leave in one system call. */
export const endWith = (res: ServerResponse, piece: Buffer): void => {
  if (endsEarly(res)) {
    res.write(Buffer.from(piece))
    endLingering(res)
  } else if (piece.length <= joinedBytes) res.end(piece.toString('latin1', 0, piece.length), 'latin1')
  else res.end(Buffer.from(piece))
}

/** Ends an answer whose end the length does not say: one in chunks, one until the connection closes, one without a body. */
export const endAnswer = (res: ServerResponse): void => {
  // Node holds chunks back until the tick after they were written; what ends them has to come behind.
  if (endsEarly(res)) process.nextTick(endLast, res)
  else res.end()
}

/** What `end` does as well; but that closes the connection with what the client still sends unread. */
const endLast = (res: ServerResponse): void => {
  flushHeader(res)
  if (res.chunkedEncoding) res.socket?.write(lastChunk)
  endLingering(res)
}

/** RFC 9112 section 7.1, without trailers. */
const lastChunk = '0\r\n\r\n'
