import type { SeenAdmission } from '../../conformance/oracle.ts'

/** A clock that all processes of the machine share, in milliseconds. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** The field in which the upstream says when a request arrived there, in milliseconds of `nowMs`. */
export const arrivalField = 'x-arrived-at-ms'

/** One request of a run, as far as it can be seen from outside. */
export interface Answer {
  readonly client: string
  /** `failed`: another status than 200 and 429, or none. */
  readonly outcome: 'admitted' | 'refused' | 'failed'
  readonly sentAtMs: number
  /** It was decided by then: when it arrived upstream, or where that is not known, was answered or given up. */
  readonly decidedByMs: number
  /** When it was answered or given up. */
  readonly answeredAtMs: number
}

/** The words of the oracle. */
export const toSeen = ({ sentAtMs, decidedByMs }: Answer): SeenAdmission => ({ sentAtMs, answeredAtMs: decidedByMs })
