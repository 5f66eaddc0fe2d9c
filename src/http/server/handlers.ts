import type { GatewayErrorCode } from '../../errors.ts'
import type { InvalidMessageReason } from '../message/invalid-message.ts'
import type { DropReason } from './options.ts'
import type { Request } from './request.ts'
import type { Response } from './response.ts'

export interface HttpServerHandlers {
  /**
   * A request has arrived. If it has `head.asksForWebSocket`, the handler may take over its socket with
   * `request.upgrade`.
   */
  request(request: Request, response: Response): void
  /**
   * Invalid bytes were refused with this code; no other handler is called for them. If they are in the body of a
   * request, its response has a `refusal` when it closes.
   * @param reason undefined: the bytes took too long to arrive
   */
  refused(code: GatewayErrorCode, reason?: InvalidMessageReason): void
  /** A connection was refused or closed by the server. A connection that its client closes is not reported. */
  dropped(reason: DropReason): void
}
