import type { Contribution } from './min-gauge.ts'
import type { Recorder } from './recorder.ts'

/** Where certificates are used. */
export type CertificateUse = 'listener' | 'internal' | 'upstream' | 'store'

/** Reports when the certificates of one use expire, until closed. */
export interface CertificateMeter {
  /**
   * The certificates that are used from now on expire at these times, in milliseconds since 1970; undefined if there is
   * no such certificate.
   */
  ends(ends: { readonly own: number | undefined; readonly authorities: number | undefined }): void
  /** The certificates are not used any longer. */
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
