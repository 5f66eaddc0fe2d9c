import type { GatewayErrorCode } from '../../errors.ts'
import type { FailureKind, RoundTripError } from '../../http/client/errors.ts'

/** Why a round trip failed, as the label of the metric. */
export type UpstreamFailure =
  | 'connect'
  | 'timeout'
  | 'reset'
  | 'reset_mid_body'
  | 'invalid'
  | 'client_gone'
  | 'client_slow'
  | 'too_large'
  | 'busy'

interface Meaning {
  /** The error of the client if no response had begun. */
  readonly code: GatewayErrorCode
  readonly reason: UpstreamFailure
}

const meanings: Readonly<Record<FailureKind, Meaning>> = {
  unreachable: { code: 'UPSTREAM_UNREACHABLE', reason: 'connect' },
  closed: { code: 'UPSTREAM_UNREACHABLE', reason: 'reset' },
  late: { code: 'UPSTREAM_TIMEOUT', reason: 'timeout' },
  invalid: { code: 'UPSTREAM_RESPONSE_INVALID', reason: 'invalid' },
  'broken-off': { code: 'UPSTREAM_RESPONSE_INVALID', reason: 'reset_mid_body' },
  stalled: { code: 'REQUEST_TIMEOUT', reason: 'client_slow' },
  'too-large': { code: 'BODY_TOO_LARGE', reason: 'too_large' },
}

/** Maps a failed round trip to the error of the client and the label of the metric. */
export const toUpstreamFailure = ({ kind }: RoundTripError): Meaning => meanings[kind]
