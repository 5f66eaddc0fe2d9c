import type { Contribution } from './min-gauge.ts'
import type { Recorder } from './recorder.ts'

/** Where certificates are used. */
export type CertificateUse = 'listener' | 'internal' | 'upstream' | 'store'

/** Says when the certificates that something uses expire, for as long as it is open. */
export interface CertificateMeter {
  /** Those that are used from now on; in milliseconds since 1970, undefined where there are none. */
  ends(ends: { readonly own: number | undefined; readonly authorities: number | undefined }): void
  /** They are used no more. */
  close(): void
}

/** @param upstream its name; empty for everything else */
export const createCertificateMeter = (recorder: Recorder, use: CertificateUse, upstream = ''): CertificateMeter => {
  const own = recorder.least('certificateExpiry', [use, upstream]).contribute()
  const authorities = recorder.least('certificateExpiry', [`${use}_ca`, upstream]).contribute()
  return {
    ends(ends) {
      say(own, ends.own)
      say(authorities, ends.authorities)
    },
    close() {
      own.release()
      authorities.release()
    },
  }
}

const say = (contribution: Contribution, endMs: number | undefined): void => {
  if (endMs === undefined) contribution.release()
  else contribution.set(Math.floor(endMs / 1000))
}
