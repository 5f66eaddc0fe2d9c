import type { Socket } from 'node:net'
import { buildConnector, Pool } from 'undici'
import { codeClass } from '../../telemetry/metrics.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
import { skipUnaskedContinue } from './unasked-continue.ts'
import type { UpstreamFailure } from './upstream-failure.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/** One service behind the gateway: its connections, and what is counted of it. */
export interface Upstream {
  readonly name: string
  readonly options: UpstreamOptions
  /** The next target in turn. */
  next(): UpstreamTarget
  answered(status: number, durationMs: number): void
  failed(reason: UpstreamFailure): void
  close(): Promise<void>
}

export interface UpstreamTarget {
  readonly origin: URL
  readonly pool: Pool
}

export const createUpstream = (options: UpstreamOptions, recorder: Recorder): Upstream => {
  const targets = options.targets.map(origin => createTarget(origin, options))
  const durations = new Map<number, (seconds: number) => void>()
  let turn = 0
  return {
    name: options.name,
    options,
    next() {
      turn = (turn + 1) % targets.length
      return targets[turn] as UpstreamTarget
    },
    answered(status, durationMs) {
      let observe = durations.get(status)
      if (!observe) {
        const cell = recorder.histogram('upstreamDuration', [options.name, codeClass(status)])
        observe = seconds => cell.observe(seconds)
        durations.set(status, observe)
      }
      observe(durationMs / 1000)
    },
    failed: reason => recorder.counter('upstreamErrors', [options.name, reason]).add(),
    async close() {
      await Promise.all(targets.map(target => target.pool.destroy()))
    },
  }
}

const createTarget = (origin: string, options: UpstreamOptions): UpstreamTarget => ({
  origin: new URL(origin),
  pool: new Pool(origin, {
    connect: createConnector(options),
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    // Shorter than what servers usually keep, so that the gateway closes first and no request meets a closing socket.
    keepAliveTimeout: 4000,
    pipelining: 1,
  }),
})

const createConnector = (options: UpstreamOptions): buildConnector.connector => {
  const connect = buildConnector({ timeout: options.connectTimeoutMs })
  return (target, callback) =>
    connect(target, (...outcome) => {
      const [, socket] = outcome
      if (socket && !isHttp2(socket)) skipUnaskedContinue(socket)
      callback(...outcome)
    })
}

const isHttp2 = (socket: Socket): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'
