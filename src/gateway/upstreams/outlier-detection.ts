import type { Endpoint } from './endpoint.ts'
import type { LoadBalancer } from './load-balancer.ts'
import type { OutlierDetectionOptions } from './upstream-options.ts'

/** Why a request counts as a failure of the endpoint: no response, or a 5xx status. */
export type EjectionReason = 'connect' | 'timeout' | 'reset' | 'invalid' | '5xx'

export interface EjectionReport {
  ejected(endpoint: Endpoint, reason: EjectionReason, forMs: number): void
  restored(endpoint: Endpoint): void
}

/** The last ejection of an endpoint. */
interface Absence {
  readonly timer: NodeJS.Timeout
  readonly forMs: number
  /** Undefined while the endpoint is ejected. */
  returnedAtMs: number | undefined
}

/**
 * Outlier detection (passive health checks): an endpoint that fails several times in a row gets no requests for a
 * while, longer each time.
 */
export class OutlierDetection {
  readonly #options: OutlierDetectionOptions
  readonly #loadBalancer: LoadBalancer
  readonly #report: EjectionReport
  readonly #absences = new Map<Endpoint, Absence>()

  constructor(options: OutlierDetectionOptions, loadBalancer: LoadBalancer, report: EjectionReport) {
    this.#options = options
    this.#loadBalancer = loadBalancer
    this.#report = report
  }

  /** Counts one more failure of an endpoint. */
  count(endpoint: Endpoint, reason: EjectionReason): void {
    const { failures } = this.#options
    endpoint.failures += 1
    if (failures === 0 || endpoint.failures < failures || endpoint.isEjected || !this.#canSpareOne()) return
    const forMs = this.#timeFor(endpoint)
    const timer = setTimeout(() => this.#return(endpoint), forMs).unref()
    this.#absences.set(endpoint, { timer, forMs, returnedAtMs: undefined })
    endpoint.isEjected = true
    this.#loadBalancer.update()
    this.#report.ejected(endpoint, reason, forMs)
  }

  /** The upstream no longer has this endpoint. */
  forget(endpoint: Endpoint): void {
    clearTimeout(this.#absences.get(endpoint)?.timer)
    this.#absences.delete(endpoint)
  }

  close(): void {
    for (const { timer } of this.#absences.values()) clearTimeout(timer)
    this.#absences.clear()
  }

  #canSpareOne(): boolean {
    const { all } = this.#loadBalancer
    const most = Math.min(all.length - 1, Math.floor((all.length * this.#options.maxEjectionPercent) / 100))
    return all.filter(({ isEjected }) => isEjected).length < most
  }

  /** An endpoint that worked for as long as it was ejected before starts with the shortest time again. */
  #timeFor(endpoint: Endpoint): number {
    const { timeMs, maxTimeMs } = this.#options
    const before = this.#absences.get(endpoint)
    const isAgain = before?.returnedAtMs !== undefined && performance.now() < before.returnedAtMs + before.forMs
    return Math.min(maxTimeMs, isAgain ? before.forMs * 2 : timeMs)
  }

  #return(endpoint: Endpoint): void {
    const absence = this.#absences.get(endpoint)
    if (absence) absence.returnedAtMs = performance.now()
    endpoint.isEjected = false
    // On probation: the next failure ejects it again, the next response resets the count.
    endpoint.failures = this.#options.failures - 1
    this.#loadBalancer.update()
    this.#report.restored(endpoint)
  }
}
