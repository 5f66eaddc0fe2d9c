import cluster from 'node:cluster'
import { once } from 'node:events'
import { createLimiterService, prepareStore, type SidegateConfig } from '../app.ts'
import { greeting, startDemo } from '../demo/demo.ts'
import { createAggregate } from '../telemetry/aggregate.ts'
import { createLogger, type ProcessLogger } from '../telemetry/logger.ts'
import { createRecorder, type Recorder } from '../telemetry/recorder.ts'
import { buildInfo } from '../version.ts'
import { startAdmin } from './admin.ts'
import { createGathering } from './gathering.ts'
import { bindListeners, type Listeners } from './listeners.ts'
import { createPodWatch } from './pod-watch.ts'
import { createStoreWatch, type StoreWatch } from './store-watch.ts'
import { startWorkers, type Workers } from './workers.ts'

export interface RunOptions {
  readonly configFile: string
  /** With the demo upstream and a greeting: what a bare `npm start` runs. */
  readonly demo: boolean
}

/**
 * The primary: binds the listeners, starts the workers, answers the admin port, and stops in good order.
 * @returns the exit code: 0 after a drain
 * @throws Error one line for a person, where something needed cannot be had: a port, the store, a worker
 */
export const runCluster = async (config: SidegateConfig, options: RunOptions): Promise<number> => {
  const logger = await createLogger({ level: process.env.LOG_LEVEL ?? 'info', base: { pid: process.pid } })
  try {
    return await serve(config, options, logger)
  } finally {
    logger.flush()
  }
}

const serve = async (config: SidegateConfig, options: RunOptions, { log }: ProcessLogger): Promise<number> => {
  const storeIsUp = await prepareStore(config)
  const listeners = await bindListeners(config.listen.host, config.listen.port, config.workers)
  const recorder = createRecorder()
  const aggregate = createAggregate()
  recordBuild(recorder)
  const storeWatch = createStoreWatch(config.store.kind, log)
  if (!storeIsUp) storeWatch.report('primary', 'store', false, 'it did not answer at the start')

  const decide = createLimiterService()
  const state = { isDraining: false }
  cluster.setupPrimary({ exec: process.argv[1] ?? '', args: ['worker'], serialization: 'json' })
  const workers = startWorkers({
    count: config.workers,
    configFile: options.configFile,
    listeners,
    log,
    recorder,
    onMessage(worker, message, answer) {
      switch (message.type) {
        case 'metrics':
          if (message.changes) aggregate.apply(worker, message.changes)
          if (message.asked !== undefined) gathering.reported(worker, message.asked)
          break
        case 'charges':
          answer({ type: 'verdicts', id: message.id, verdicts: decide(message.charges) })
          break
        case 'store':
          storeWatch.report(worker, message.what, message.up, message.reason)
          break
        default:
      }
    },
    onGone(worker) {
      aggregate.forget(worker)
      storeWatch.forget(worker)
      gathering.gone(worker)
    },
  })
  const gathering = createGathering(aggregate, recorder, () => workers)
  const pods = createPodWatch(config, workers)
  const demo = options.demo ? await startDemo(config) : undefined

  try {
    await workers.allListening
    const admin = await startAdmin(config.admin.host, config.admin.port, {
      isReady: () => workers.serving() > 0 && !state.isDraining,
      checks: () => checksOf(config, workers, storeWatch, state.isDraining),
      metrics: gathering.expose,
      version: () => ({ ...buildInfo() }),
    })
    log.info(
      {
        event: 'ready',
        listen: listeners.url,
        admin: admin.url,
        workers: config.workers,
        store: config.store.kind,
        issuer: config.issuer,
      },
      'ready',
    )
    if (options.demo) process.stdout.write(greeting(config, { listen: listeners.url, admin: admin.url }))
    const code = await untilStopped(config, { workers, listeners, log, state })
    admin.server.close()
    admin.server.closeAllConnections()
    return code
  } catch (error) {
    workers.kill()
    throw error
  } finally {
    demo?.close()
    pods.close()
    listeners.close()
  }
}

interface Running {
  readonly workers: Workers
  readonly listeners: Listeners
  readonly log: ProcessLogger['log']
  readonly state: { isDraining: boolean }
}

/**
 * SIGTERM: readiness goes false and answers end their connections, while accepting goes on for `shutdown.delay`, since
 * load balancers notice late; then what is in flight is finished, for `shutdown.timeout` at most. A second signal, or
 * Ctrl-C in a terminal, does not wait for the delay.
 */
const untilStopped = async (config: SidegateConfig, { workers, listeners, log, state }: Running): Promise<number> => {
  const { delayMs, timeoutMs } = config.shutdown
  const first = await nextSignal()
  state.isDraining = true
  log.info({ event: 'draining', signal: first, delay_ms: delayMs, timeout_ms: timeoutMs }, 'draining')
  workers.tell({ type: 'drain' })
  const second = nextSignal()
  if (first === 'SIGTERM') await Promise.race([wait(delayMs), second])
  listeners.close()
  const done = workers.stop().then(() => 'done' as const)
  const outcome = await Promise.race([
    done,
    wait(timeoutMs).then(() => 'late' as const),
    nextSignal().then(() => 'hurried' as const),
  ])
  if (outcome === 'done') {
    log.info({ event: 'stopped' }, 'stopped: everything in flight was answered')
    return 0
  }
  log.warn({ event: 'stopped', outcome }, 'stopped with requests in flight')
  workers.kill()
  return 1
}

const nextSignal = (): Promise<NodeJS.Signals> =>
  Promise.race((['SIGTERM', 'SIGINT'] as const).map(signal => once(process, signal).then(() => signal)))

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms).unref())

const checksOf = (
  config: SidegateConfig,
  workers: Workers,
  storeWatch: StoreWatch,
  isDraining: boolean,
): readonly (readonly [string, string])[] => [
  ['workers', `${workers.serving()} of ${config.workers}`],
  ['store', `${config.store.kind}, ${storeWatch.finding('store')}`],
  ['plan limits', storeWatch.finding('limiter')],
  ['draining', isDraining ? 'yes' : 'no'],
]

const recordBuild = (recorder: Recorder): void => {
  const { version, node_version, commit } = buildInfo()
  recorder.gauge('buildInfo', [version, node_version, commit]).set(1)
  recorder.gauge('configReloadSuccessful', []).set(1)
  recorder.gauge('configReloadTimestamp', []).set(Date.now() / 1000)
}
