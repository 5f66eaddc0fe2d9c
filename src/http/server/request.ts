import type { Socket } from 'node:net'
import type { RequestBody } from './request-body.ts'
import type { RequestHead } from './request-parser.ts'

/** One request on a connection. */
export interface Request {
  readonly head: RequestHead
  /** Undefined: the head announces none. */
  readonly body: RequestBody | undefined
  readonly socket: Socket
  /** The IP address of the connection's other end; an IPv4 address as such. */
  readonly peer: string
  /** `performance.now()` when the head had been read. */
  readonly startedAtMs: number
  /**
   * Takes the socket away from the server: it speaks another protocol from now on, and its response must not be written to.
   * It is paused, has no listeners of the server any more, and gives first what had come behind the head.
   */
  upgrade(): Socket
}
