import type { ReportRotation } from '../oauth/keys/key-ring.ts'
import type { Contribution } from '../telemetry/min-gauge.ts'
import type { Recorder } from '../telemetry/recorder.ts'

/** Reports when the keys of one ring are due for rotation, until closed. */
export interface KeyMeter {
  readonly rotation: ReportRotation
  close(): void
}

export const createKeyMeter = (recorder: Recorder): KeyMeter => {
  const contributions = new Map<string, Contribution>()
  const contributionOf = (alg: string): Contribution => {
    const contribution = contributions.get(alg) ?? recorder.least('keyRotationDue', [alg]).contribute()
    contributions.set(alg, contribution)
    return contribution
  }
  return {
    rotation: (alg, dueAtMs) => contributionOf(alg).set(Math.floor(dueAtMs / 1000)),
    close() {
      for (const contribution of contributions.values()) contribution.release()
    },
  }
}
