import type { ConnectionLimits } from './timeouts.ts'

/** The phases of a connection. */
export type Phase = 'connecting' | 'sending' | 'waiting' | 'receiving' | 'idle'

/**
 * Tracks the timeout of the current phase. A tick checks it several times in the shortest timeout. Reads and writes
 * only set a flag, so that no timer is created per request.
 */
export class PhaseTimeouts {
  readonly #limits: ConnectionLimits
  #phase: Phase = 'connecting'
  /** When a tick first saw the phase, or last saw activity in it; 0 until then. */
  #sinceMs = 0
  #isActive = false
  /** How long the connection may be idle: a little less than the server keeps it. */
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

  /** @param keepAliveMs for how long the connection may be idle */
  enterIdle(keepAliveMs: number): void {
    this.#keepAliveMs = keepAliveMs
    this.enter('idle')
  }

  /** Bytes have been received or sent: the timeout restarts. */
  refresh(): void {
    this.#isActive = true
  }

  /** Whether the timeout has passed. @param nowMs of a monotonic clock */
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
