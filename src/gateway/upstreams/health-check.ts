import type { Connection, RoundTripHandler } from '../../http/client/connection.ts'
import { type ConnectionPool, createPool } from '../../http/client/pool.ts'
import type { UpstreamHead } from '../../http/client/response-head.ts'
import type { Endpoint } from './endpoint.ts'
import type { HealthOptions } from './upstream-options.ts'

/** Told when an endpoint has changed from healthy to unhealthy, or back. */
export type ReportHealth = (endpoint: Endpoint) => void

/** The checks of one endpoint, over connections of their own: an endpoint that is busy is not taken for one that is ill. */
export class HealthCheck implements RoundTripHandler {
  readonly #endpoint: Endpoint
  readonly #options: HealthOptions
  readonly #report: ReportHealth
  readonly #pool: ConnectionPool
  readonly #head: string
  #timer: NodeJS.Timeout
  #connection: Connection | undefined
  #isGood = false
  /** Results in a row that speak against what it is taken for. */
  #doubts = 0

  constructor(endpoint: Endpoint, options: HealthOptions, report: ReportHealth) {
    const { path, intervalMs, timeoutMs } = options
    this.#endpoint = endpoint
    this.#options = options
    this.#report = report
    this.#head = `GET ${path} HTTP/1.1\r\nHost: ${endpoint.host}\r\nUser-Agent: sidegate\r\nConnection: close\r\n\r\n`
    const limits = { connectTimeoutMs: timeoutMs, headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs }
    const whole = { totalTimeoutMs: timeoutMs, endsStreams: true }
    this.#pool = createPool(endpoint.open, { ...limits, ...whole, keepAliveMs: timeoutMs })
    // Workers that begin together do not ask together.
    this.#timer = this.#askIn(Math.random() * Math.min(intervalMs, longestFirstWaitMs))
  }

  onHead({ status }: UpstreamHead): void {
    this.#isGood = status >= 200 && status < 400
  }

  onData(): void {
    // What it says is not looked at.
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

  #askIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#ask(), ms).unref()
  }

  #ask(): void {
    const request = { method: 'GET', head: this.#head, body: undefined, isChunked: false, maxBodyBytes: 0 }
    this.#isGood = false
    this.#connection = this.#pool.send({ ...request, startedAtMs: performance.now() }, this)
  }

  #conclude(isGood: boolean): void {
    this.#connection = undefined
    this.#timer = this.#askIn(this.#options.intervalMs * (1 - spread + Math.random() * spread * 2))
    if (isGood === this.#endpoint.isHealthy) {
      this.#doubts = 0
      return
    }
    this.#doubts += 1
    if (this.#doubts < (isGood ? this.#options.healthy : this.#options.unhealthy)) return
    this.#doubts = 0
    this.#endpoint.isHealthy = isGood
    this.#report(this.#endpoint)
  }
}

const longestFirstWaitMs = 1000

/** How far the time between two checks may be from what was asked for: a tenth. */
const spread = 0.1
