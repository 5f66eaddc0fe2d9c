import type { Socket } from 'node:net'
import type { RequestBody } from './request-body.ts'
import type { RequestHead } from './request-parser.ts'

/** One request on a connection. */
export interface Request {
  readonly head: RequestHead
  /** Undefined: the head announces no body. */
  readonly body: RequestBody | undefined
  readonly socket: Socket
  /** The IP address of the connection's other end; an IPv4 address as such. */
  readonly peer: string
  /** `performance.now()` when the head had been read. */
  readonly startedAtMs: number
  /**
   * Takes the socket from the server for another protocol. The response must not be used any more. The socket is
   * paused, has no listeners of the server, and emits first the bytes that arrived after the head.
   */
  upgrade(): Socket
}
