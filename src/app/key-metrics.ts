import type { ReportRotation } from '../oauth/keys/key-ring.ts'
import type { Contribution } from '../telemetry/min-gauge.ts'
import type { Recorder } from '../telemetry/recorder.ts'

/** Says when the keys of one ring are due to have successors, for as long as it is open. */
export interface KeyMeter {
  readonly rotation: ReportRotation
  close(): void
}

export const createKeyMeter = (recorder: Recorder): KeyMeter => {
  const holders = new Map<string, Contribution>()
  const holderOf = (alg: string): Contribution => {
    const holder = holders.get(alg) ?? recorder.least('keyRotationDue', [alg]).hold()
    holders.set(alg, holder)
    return holder
  }
  return {
    rotation: (alg, dueAtMs) => holderOf(alg).set(Math.floor(dueAtMs / 1000)),
    close() {
      for (const holder of holders.values()) holder.release()
    },
  }
}
