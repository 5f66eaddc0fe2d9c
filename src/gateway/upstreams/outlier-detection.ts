import type { Endpoint } from './endpoint.ts'
import type { LoadBalancer } from './load-balancer.ts'
import type { OutlierDetectionOptions } from './upstream-options.ts'

/** Why a member is counted as failing: no answer, or one that says so itself. */
export type EjectionReason = 'connect' | 'timeout' | 'reset' | 'invalid' | '5xx'

export interface EjectionReport {
  ejected(member: Endpoint, reason: EjectionReason, forMs: number): void
  returned(member: Endpoint): void
}

/** When a member was ejected, the last time. */
interface Absence {
  readonly timer: NodeJS.Timeout
  readonly forMs: number
  /** Undefined while it lasts. */
  returnedAtMs: number | undefined
}

/** Passive checks: who fails several times in a row is left alone, longer each time (outlier detection). */
export class OutlierDetection {
  readonly #options: OutlierDetectionOptions
  readonly #members: LoadBalancer
  readonly #report: EjectionReport
  readonly #absences = new Map<Endpoint, Absence>()

  constructor(options: OutlierDetectionOptions, members: LoadBalancer, report: EjectionReport) {
    this.#options = options
    this.#members = members
    this.#report = report
  }

  /** One more failure of a member. */
  count(member: Endpoint, reason: EjectionReason): void {
    const { failures } = this.#options
    member.failures += 1
    if (failures === 0 || member.failures < failures || member.isEjected || !this.#canSpareOne()) return
    const forMs = this.#timeFor(member)
    const timer = setTimeout(() => this.#return(member), forMs).unref()
    this.#absences.set(member, { timer, forMs, returnedAtMs: undefined })
    member.isEjected = true
    this.#members.update()
    this.#report.ejected(member, reason, forMs)
  }

  /** It is no member any more. */
  forget(member: Endpoint): void {
    clearTimeout(this.#absences.get(member)?.timer)
    this.#absences.delete(member)
  }

  close(): void {
    for (const { timer } of this.#absences.values()) clearTimeout(timer)
    this.#absences.clear()
  }

  #canSpareOne(): boolean {
    const { all } = this.#members
    const most = Math.min(all.length - 1, Math.floor((all.length * this.#options.maxEjectionPercent) / 100))
    return all.filter(({ isEjected }) => isEjected).length < most
  }

  /** Who did well for as long as it was out before begins anew. */
  #timeFor(member: Endpoint): number {
    const { timeMs, maxTimeMs } = this.#options
    const before = this.#absences.get(member)
    const isAgain = before?.returnedAtMs !== undefined && performance.now() < before.returnedAtMs + before.forMs
    return Math.min(maxTimeMs, isAgain ? before.forMs * 2 : timeMs)
  }

  #return(member: Endpoint): void {
    const absence = this.#absences.get(member)
    if (absence) absence.returnedAtMs = performance.now()
    member.isEjected = false
    // On probation: the next failure is enough, the next answer clears it.
    member.failures = this.#options.failures - 1
    this.#members.update()
    this.#report.returned(member)
  }
}
