import type { Connection, RoundTripHandler } from '../../http/client/connection.ts'
import { type ConnectionPool, createPool } from '../../http/client/pool.ts'
import type { UpstreamHead } from '../../http/client/response-head.ts'
import type { Endpoint } from './endpoint.ts'
import type { HealthOptions } from './upstream-options.ts'

/** Called when an endpoint has changed from healthy to unhealthy, or back. */
export type ReportHealth = (endpoint: Endpoint) => void

/**
 * The health checks of one endpoint. They use connections of their own, so that a busy endpoint does not count as
 * unhealthy.
 */
export class HealthCheck implements RoundTripHandler {
  readonly #endpoint: Endpoint
  readonly #options: HealthOptions
  readonly #report: ReportHealth
  readonly #pool: ConnectionPool
  readonly #head: string
  #timer: NodeJS.Timeout
  #connection: Connection | undefined
  #isGood = false
  /** Consecutive results that contradict the current state. */
  #contraryResults = 0

  constructor(endpoint: Endpoint, options: HealthOptions, report: ReportHealth) {
    const { path, intervalMs, timeoutMs } = options
    this.#endpoint = endpoint
    this.#options = options
    this.#report = report
    this.#head = `GET ${path} HTTP/1.1\r\nHost: ${endpoint.host}\r\nUser-Agent: sidegate\r\nConnection: close\r\n\r\n`
    const limits = { connectTimeoutMs: timeoutMs, headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs }
    const whole = { totalTimeoutMs: timeoutMs, endsStreams: true }
    this.#pool = createPool(endpoint.open, { ...limits, ...whole, keepAliveMs: timeoutMs })
    // Spreads the first checks of workers that start together.
    this.#timer = this.#scheduleCheck(Math.random() * Math.min(intervalMs, longestFirstWaitMs))
  }

  onHead({ status }: UpstreamHead): void {
    this.#isGood = status >= 200 && status < 400
  }

  onData(): void {
    // The body is ignored.
  }

  onEnd(): void {
    this.#conclude(this.#isGood)
  }

  onFail(): void {
    this.#conclude(false)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#connection?.abort()
    this.#pool.close()
  }

  #scheduleCheck(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#check(), ms).unref()
  }

  #check(): void {
    const request = { method: 'GET', head: this.#head, body: undefined, isChunked: false, maxBodyBytes: 0 }
    this.#isGood = false
    this.#connection = this.#pool.send({ ...request, startedAtMs: performance.now() }, this)
  }

  #conclude(isGood: boolean): void {
    this.#connection = undefined
    this.#timer = this.#scheduleCheck(this.#options.intervalMs * (1 - spread + Math.random() * spread * 2))
    if (isGood === this.#endpoint.isHealthy) {
      this.#contraryResults = 0
      return
    }
    this.#contraryResults += 1
    if (this.#contraryResults < (isGood ? this.#options.healthy : this.#options.unhealthy)) return
    this.#contraryResults = 0
    this.#endpoint.isHealthy = isGood
    this.#report(this.#endpoint)
  }
}

const longestFirstWaitMs = 1000

/** Jitter of the time between two checks: a tenth. */
const spread = 0.1
