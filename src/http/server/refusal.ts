import type { GatewayErrorCode } from '../../errors.ts'
import type { InvalidMessageReason } from '../message/invalid-message.ts'
import type { DropReason } from './options.ts'

/** How a connection that brings no valid request is answered, and what it is counted as. */
export interface Refusal {
  readonly code: GatewayErrorCode
  readonly drop: DropReason
  /** Undefined: they took too long to come. */
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
