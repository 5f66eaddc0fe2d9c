/**
 * Why a round trip failed. `unreachable`: no connection was made, nothing was sent. `closed`: the connection ended
 * before a response began. `late`: the server took longer than allowed for a response or its next piece. `invalid`: the
 * response is invalid and cannot be forwarded. `broken-off`: the response began and did not end. The client is the
 * cause of the other two: `stalled`, if it stops sending or reading a body; `too-large`, if its body is above the
 * limit.
 */
export type FailureKind = 'unreachable' | 'closed' | 'late' | 'invalid' | 'broken-off' | 'stalled' | 'too-large'

/** A round trip that has failed. */
export class RoundTripError extends Error {
  override readonly name = 'RoundTripError'
  readonly kind: FailureKind
  /** Whether the connection had been used before. Then the server may have closed it before it received the request. */
  readonly wasReused: boolean

  constructor(kind: FailureKind, message: string, wasReused: boolean, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
    this.wasReused = wasReused
  }
}
