import type { ConnectionLimits } from './timeouts.ts'

/** What a connection waits for. */
export type Phase = 'connecting' | 'sending' | 'waiting' | 'receiving' | 'idle'

/**
 * How long a connection has waited for the one thing that it waits for now. Nobody looks at a clock for it but a tick that
 * comes several times in the shortest wait: reading and writing only leave a mark.
 */
export class PhaseTimeouts {
  readonly #limits: ConnectionLimits
  #phase: Phase = 'connecting'
  /** When a tick first saw the phase, or last saw it active; 0 until then. */
  #sinceMs = 0
  #isActive = false
  /** How long the server keeps a silent connection, less a little. */
  #keepAliveMs: number

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    this.#keepAliveMs = limits.keepAliveMs
  }

  get phase(): Phase {
    return this.#phase
  }

  enter(phase: Phase): void {
    this.#phase = phase
    this.#sinceMs = 0
    this.#isActive = false
  }

  /** @param keepAliveMs for how long it may be idle */
  enterIdle(keepAliveMs: number): void {
    this.#keepAliveMs = keepAliveMs
    this.enter('idle')
  }

  /** Something has come or gone: the wait begins anew. */
  refresh(): void {
    this.#isActive = true
  }

  /** Whether the wait has been too long. @param nowMs of a monotonic clock */
  isExpired(nowMs: number): boolean {
    if (!this.#isActive && this.#sinceMs > 0) return nowMs - this.#sinceMs >= this.#limitMs()
    this.#isActive = false
    this.#sinceMs = nowMs
    return false
  }

  #limitMs(): number {
    switch (this.#phase) {
      case 'connecting':
        return this.#limits.connectTimeoutMs
      case 'waiting':
        return this.#limits.headersTimeoutMs
      case 'idle':
        return this.#keepAliveMs
      default:
        return this.#limits.bodyTimeoutMs
    }
  }
}
