import { once } from 'node:events'
import type { Logger } from '../../telemetry/logger.ts'
import type { Listeners } from '../supervisor/reuseport-sockets.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

export interface DrainOptions {
  /** How long accepting goes on after SIGTERM. A second signal, or Ctrl-C in a terminal, does not wait for it. */
  readonly delayMs: number
  /** Longest wait for what is in flight after that; a third signal does not wait for it. */
  readonly timeoutMs: number
}

/** What a drain acts upon. */
export interface Drained {
  /** The signal that begins it. */
  readonly firstSignal: Promise<NodeJS.Signals>
  readonly workers: Workers
  /** Every listener that the workers accept from. */
  readonly listeners: readonly Listeners[]
  readonly log: Logger
  /** The first signal has come: readiness goes false. */
  onDraining(): void
}

/**
 * Waits for the first signal, then stops in good order: readiness goes false and answers end their connections, while
 * accepting goes on, since load balancers notice late; then what is in flight is finished.
 * @param toOptions asked when the first signal comes
 * @returns the exit code: 0 where everything was answered, 1 where time ran out or a worker died meanwhile
 */
export const untilDrained = async (toOptions: () => DrainOptions, drained: Drained): Promise<number> => {
  const { workers, listeners, log } = drained
  const signal = await drained.firstSignal
  const options = toOptions()
  log.info({ event: 'draining', signal, delay_ms: options.delayMs, timeout_ms: options.timeoutMs }, 'draining')
  drained.onDraining()
  workers.drain()
  if (signal === 'SIGTERM') await Promise.race([wait(options.delayMs), nextSignal()])
  for (const listener of listeners) listener.close()
  const outcome = await Promise.race([
    workers.stop().then(finished => (finished ? 'finished' : 'worker_died')),
    wait(options.timeoutMs).then(() => 'timeout'),
    nextSignal(),
  ])
  if (outcome === 'finished') {
    log.info({ event: 'stopped' }, 'stopped: everything in flight was answered')
    return 0
  }
  log.warn({ event: 'stopped', outcome }, 'stopped with requests in flight')
  return 1
}

/** SIGTERM or SIGINT, whichever comes next. */
export const nextSignal = (): Promise<NodeJS.Signals> =>
  Promise.race((['SIGTERM', 'SIGINT'] as const).map(signal => once(process, signal).then(() => signal)))

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms).unref())
