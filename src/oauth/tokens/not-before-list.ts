import type { NotBefore } from '../../stores/ports/not-before.ts'

/** The client and the subject of a token or grant, for the look-up of cutoffs. */
export interface Owner {
  readonly client_id: string
  readonly sub: string
}

/** The cutoffs that a process knows. A look-up takes one comparison if the list is empty, and never allocates. */
export interface NotBeforeList {
  /** Returns whether the cutoff is new, or later than the known one of the same owner. */
  add(cutoff: NotBefore): boolean
  /** Whether a token that was issued to this owner in that second is revoked. */
  covers(owner: Owner, issuedSec: number): boolean
  /** Drops cutoffs that have expired. */
  sweep(nowMs: number): void
}

/** Any client, any subject: a `client_id` or `sub` is never empty. */
const any = ''

export const createNotBeforeList = (): NotBeforeList => {
  /** By client, then by subject. */
  const byClient = new Map<string, Map<string, NotBefore>>()
  const reaches = (client_id: string, sub: string, issuedSec: number): boolean =>
    issuedSec <= (byClient.get(client_id)?.get(sub)?.throughSec ?? Number.NEGATIVE_INFINITY)
  return {
    add: cutoff => {
      const { client_id = any, sub = any, throughSec } = cutoff
      const bySub = byClient.get(client_id) ?? new Map<string, NotBefore>()
      byClient.set(client_id, bySub)
      if (throughSec <= (bySub.get(sub)?.throughSec ?? 0)) return false
      bySub.set(sub, cutoff)
      return true
    },
    covers: ({ client_id, sub }, issuedSec) =>
      byClient.size > 0 &&
      (reaches(client_id, any, issuedSec) || reaches(any, sub, issuedSec) || reaches(client_id, sub, issuedSec)),
    sweep: nowMs => {
      for (const [client_id, bySub] of byClient) {
        for (const [sub, { untilMs }] of bySub) if (untilMs <= nowMs) bySub.delete(sub)
        if (bySub.size === 0) byClient.delete(client_id)
      }
    },
  }
}
