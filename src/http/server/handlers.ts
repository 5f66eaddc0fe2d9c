import type { GatewayErrorCode } from '../../errors.ts'
import type { InvalidMessageReason } from '../message/invalid-message.ts'
import type { DropReason } from './options.ts'
import type { Request } from './request.ts'
import type { Response } from './response.ts'

export interface HttpServerHandlers {
  /** A request has come. One with `head.asksForWebSocket` may be taken over by `request.upgrade`. */
  request(request: Request, response: Response): void
  /**
   * Bytes that are not a request were refused with this code; no handler is told of them otherwise. Where they are in the body of a
   * request, its response has a `refusal` when it closes.
   * @param reason undefined: they took too long to come
   */
  refused(code: GatewayErrorCode, reason?: InvalidMessageReason): void
  /** A connection was not served on. A client that closes the connection itself is not reported. */
  dropped(reason: DropReason): void
}
