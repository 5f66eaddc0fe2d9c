/**
 * Why a round trip failed. `unreachable`: no connection was made, nothing was sent. `closed`: the connection ended before an
 * answer began. `late`: the server took longer than it has for an answer or its next piece. `invalid`: what came is no answer that can be
 * handed on. `broken-off`: the answer began and did not end. And what is no fault of the server: `stalled`, where whoever asks
 * sends or takes no more of a body; `too-large`, where it sends more than it may.
 */
export type FailureKind = 'unreachable' | 'closed' | 'late' | 'invalid' | 'broken-off' | 'stalled' | 'too-large'

/** A round trip that has failed. */
export class RoundTripError extends Error {
  override readonly name = 'RoundTripError'
  readonly kind: FailureKind
  /** Whether the connection had served before: the server may have closed it before it saw the request. */
  readonly wasReused: boolean

  constructor(kind: FailureKind, message: string, wasReused: boolean, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
    this.wasReused = wasReused
  }
}
