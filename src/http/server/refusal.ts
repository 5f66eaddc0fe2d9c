import type { GatewayErrorCode } from '../../errors.ts'
import type { InvalidMessageReason } from '../message/invalid-message.ts'
import type { DropReason } from './options.ts'

/** The response to invalid bytes or a late request, and the reason by which its connection is counted. */
export interface Refusal {
  readonly code: GatewayErrorCode
  readonly drop: DropReason
  /** Undefined: the bytes took too long to arrive. */
  readonly reason?: InvalidMessageReason
}

export const refusalOf = (reason: InvalidMessageReason): Refusal => {
  switch (reason) {
    case 'head-too-large':
    case 'too-many-fields':
      return { code: 'HEADERS_TOO_LARGE', drop: 'invalid', reason }
    case 'unknown-method':
      return { code: 'NOT_IMPLEMENTED', drop: 'invalid', reason }
    default:
      return { code: 'BAD_REQUEST', drop: 'invalid', reason }
  }
}
