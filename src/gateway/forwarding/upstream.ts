import { opener } from '../../http/client/open-socket.ts'
import { type ConnectionPool, createPool } from '../../http/client/pool.ts'
import { codeClass } from '../../telemetry/metrics.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
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
  close(): void
}

export interface UpstreamTarget {
  readonly origin: URL
  readonly pool: ConnectionPool
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
    close() {
      for (const target of targets) target.pool.close()
    },
  }
}

/** Shorter than what servers usually keep, so that the gateway closes first and no request meets a closing socket. */
const keepAliveMs = 4000

const createTarget = (
  target: string,
  { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, totalTimeoutMs }: UpstreamOptions,
): UpstreamTarget => {
  const origin = new URL(target)
  return {
    origin,
    pool: createPool(opener(origin), {
      connectTimeoutMs,
      headersTimeoutMs,
      bodyTimeoutMs,
      totalTimeoutMs,
      keepAliveMs,
    }),
  }
}
