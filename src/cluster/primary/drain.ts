import { once } from 'node:events'
import type { Logger } from '../../telemetry/logger.ts'
import type { Listeners } from '../supervisor/reuseport-sockets.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

export interface DrainOptions {
  /**
   * How long connections are still accepted after SIGTERM. A second signal ends this time, and Ctrl-C in a terminal
   * (SIGINT) skips it.
   */
  readonly delayMs: number
  /** Maximum wait for the requests in flight after that. A third signal ends it. */
  readonly timeoutMs: number
}

/** The parts of the primary that a drain uses. */
export interface Drained {
  /** The signal that begins the drain. */
  readonly firstSignal: Promise<NodeJS.Signals>
  readonly workers: Workers
  /** Every listener that the workers accept from. */
  readonly listeners: readonly Listeners[]
  readonly log: Logger
  /** The first signal was received: readiness becomes false. */
  onDraining(): void
}

/**
 * Waits for the first signal, then drains. Readiness becomes false and responses end their connections, while new
 * connections are still accepted, because load balancers notice the change late. Then the requests in flight are
 * finished.
 * @param toOptions called when the first signal is received
 * @returns the exit code: 0 if every request was answered, 1 if the time ran out or a worker died
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

/** The next SIGTERM or SIGINT. */
export const nextSignal = (): Promise<NodeJS.Signals> =>
  Promise.race((['SIGTERM', 'SIGINT'] as const).map(signal => once(process, signal).then(() => signal)))

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms).unref())
