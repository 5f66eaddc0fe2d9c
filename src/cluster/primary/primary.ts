import { flushCompileCache } from 'node:module'
import { createLimiterService, prepareStore, privateOptions } from '../../app/primary.ts'
import { followRemovedGroupings } from '../../app/removed-groupings.ts'
import type { SidegateConfig } from '../../app.ts'
import { systemClock } from '../../clock.ts'
import { createAggregate } from '../../telemetry/aggregate.ts'
import { createAudit } from '../../telemetry/audit.ts'
import { createLogger, type ProcessLogger, readLogLevel } from '../../telemetry/logger.ts'
import { openOutput } from '../../telemetry/non-blocking-output.ts'
import { createRecorder, type Recorder } from '../../telemetry/recorder.ts'
import { buildInfo } from '../../version.ts'
import type { PreloadedWorker } from '../supervisor/preload.ts'
import { bindListeners, type Listeners } from '../supervisor/reuseport-sockets.ts'
import { createWorkers } from '../supervisor/worker-pool.ts'
import { startAdmin } from './admin-server.ts'
import { createAdminView, type RunState } from './admin-status.ts'
import { withListenerName } from './bind-error.ts'
import type { ConfigSource } from './config-source.ts'
import { createCertificateWatch, createChangeWatch } from './dedup.ts'
import { nextSignal, untilDrained } from './drain.ts'
import { reportEviction } from './eviction-report.ts'
import { createMessageRouter, type MessageHandlers } from './message-router.ts'
import { createReload } from './reload.ts'
import { followConfig } from './reload-triggers.ts'
import { createReplicaCount } from './replica-count.ts'
import { replaceOnSignal } from './rolling-restart.ts'
import { createScrapeFanOut } from './scrape-fan-out.ts'
import { createStoreFileWatch } from './store-file-watch.ts'
import { createStoreHealth } from './store-health.ts'

export interface RunOptions {
  /** Where the configuration came from, and where the next one comes from. */
  readonly source: ConfigSource
  /** With the demo upstream and a greeting: what a bare `npm start` runs. */
  readonly demo: boolean
  /** The first worker, on its way already. */
  readonly preloaded: PreloadedWorker
}

/**
 * The primary: binds the listeners, starts the workers, answers the admin port, and stops in good order.
 * @returns the exit code: 0 after a drain
 * @throws Error one line for a person, where something needed cannot be had: a port, the store, a worker
 */
export const runCluster = async (config: SidegateConfig, options: RunOptions): Promise<number> => {
  const recorder = createRecorder()
  const dropped = recorder.counter('logLinesDropped', [])
  const base = { pid: process.pid }
  const logger = await createLogger({ level: readLogLevel(process.env), base, onDrop: lines => dropped.add(lines) })
  process.once('uncaughtException', error => crash(error, logger))
  try {
    return await serve(config, options, logger, recorder)
  } finally {
    logger.flush()
  }
}

/** A bug: the reason in one line for a person, the rest in the log. The workers notice, and go too. */
const crash = (error: Error, { log, flush }: ProcessLogger): never => {
  writeToStderr(`sidegate: ${error.message}\n`)
  log.fatal({ event: 'primary_crashed', err: error }, 'the primary crashed')
  flush()
  return process.exit(1)
}

/** Without blocking: a reader of standard error that has stalled must not keep a crashed process alive. */
const writeToStderr = (line: string): void => {
  try {
    openOutput(2).write(Buffer.from(line))
  } catch {
    // Standard error is closed: the log has the reason as well.
  }
}

const serve = async (
  config: SidegateConfig,
  options: RunOptions,
  logger: ProcessLogger,
  recorder: Recorder,
): Promise<number> => {
  const { log } = logger
  using cleanup = new DisposableStack()
  // From the start: whoever stops Sidegate before it serves is heard too.
  const firstSignal = nextSignal()
  const scheme = config.tls === undefined ? 'http' : 'https'
  const { host, port } = config.listen
  const listeners = await withListenerName('listen', options.demo, bindListeners(host, port, config.workers, scheme))
  cleanup.defer(listeners.close)
  const privateListener = await bindPrivately(config)
  cleanup.defer(() => privateListener?.close())
  const aggregate = createAggregate()
  recordBuild(recorder)
  const certificateWatch = createCertificateWatch(log, systemClock)
  const changeWatch = createChangeWatch(createAudit(logger), systemClock)
  const storeWatch = createStoreHealth(config.store.kind, log)

  const state: RunState = { isReady: false, isDraining: false }
  const workers = createWorkers({
    count: config.workers,
    preloaded: options.preloaded,
    config: async () => {
      await isPrepared.promise
      return reload.encodedConfig()
    },
    listeners,
    privateListener,
    log,
    recorder,
    workerTimeoutMs: () => reload.config().workerTimeoutMs,
    retireTimeoutMs: () => reload.config().shutdown.timeoutMs,
    ...createMessageRouter(() => listening),
  })
  cleanup.defer(workers.kill)
  const isPrepared = Promise.withResolvers<void>()
  // They load their code while everything else is made; what goes wrong with them is heard below.
  const started = workers.start()
  started.catch(() => undefined)
  const { source } = options
  const reload = createReload({ config, source, workers, log, recorder, clock: systemClock })
  const { config: current } = reload
  const removed = followRemovedGroupings({ config: current, drop: aggregate.drop, clock: systemClock })
  cleanup.defer(removed.close)
  const scrapeFanOut = createScrapeFanOut(aggregate, recorder, workers)
  const decide = createLimiterService()
  const watches = { storeWatch, certificateWatch, changeWatch }
  const listening: MessageHandlers = { aggregate, scrapeFanOut, decide, ...watches, reload, workers }
  const store = await prepareStore(config, changeWatch.saw)
  cleanup.defer(store.close)
  const { whyAway } = store
  if (whyAway !== undefined) storeWatch.report('primary', 'store', false, whyAway)
  const storeFile = cleanup.adopt(createStoreFileWatch(config.store, log), watch => watch.close())
  const eviction = cleanup.adopt(await reportEviction(config, log, recorder), report => report.close())
  const adminView = createAdminView({ config, state, workers, storeWatch, storeFile, eviction, reload, scrapeFanOut })
  const admin = await withListenerName(
    'admin',
    options.demo,
    startAdmin(config.admin.host, config.admin.port, adminView),
  )
  cleanup.defer(admin.close)
  const demo = options.demo ? await import('../../demo/demo.ts') : undefined
  if (demo) cleanup.adopt(await demo.startDemo(config), upstream => upstream.close())
  cleanup.adopt(await createReplicaCount(config, workers), pods => pods.close())
  isPrepared.resolve()

  const ready = Promise.withResolvers<void>()
  const following = followConfig(reload, source, ready.promise)
  cleanup.defer(following.close)
  cleanup.defer(replaceOnSignal(workers, log, { ready: ready.promise, obstacle: replacementBlocker(config) }).close)
  const outcome = await Promise.race([started, firstSignal])
  if (outcome !== undefined) {
    log.info({ event: 'stopped', signal: outcome }, 'stopped before it served')
    return 0
  }
  store.close()
  storeFile.begin()
  state.isReady = true
  ready.resolve()
  const urls = { listen: listeners.url, admin: admin.url, ...(privateListener && { internal: privateListener.url }) }
  log.info({ event: 'ready', ...urls, ...startupFacts(config) }, 'ready')
  flushCompileCache()
  if (demo) logger.print(demo.greeting(config, { listen: listeners.url, admin: admin.url }))
  return await untilDrained(() => reload.config().shutdown, {
    firstSignal,
    workers,
    listeners: privateListener ? [listeners, privateListener] : [listeners],
    log,
    onDraining() {
      state.isDraining = true
      following.close()
    },
  })
}

/** One socket for all workers: calls of a login are few, and one that waits in its queue is taken by any of them. */
const bindPrivately = async (config: SidegateConfig): Promise<Listeners | undefined> => {
  const internal = privateOptions(config)
  const scheme = internal?.tls === undefined ? 'http' : 'https'
  if (!internal) return undefined
  const { host, port } = internal.listen
  return withListenerName('internal.listen', false, bindListeners(host, port, 1, scheme))
}

/** Why no worker can take another's place. */
const replacementBlocker = ({ store }: SidegateConfig): string | undefined =>
  store.kind === 'memory' ? 'with store: memory: a new worker would begin without the tokens and the keys' : undefined

/** What the first line of the log says of the configuration. */
const startupFacts = (config: SidegateConfig) => ({
  workers: config.workers,
  store: config.store.kind,
  issuer: config.issuer,
})

const recordBuild = (recorder: Recorder): void => {
  const { version, node_version, commit } = buildInfo()
  recorder.gauge('buildInfo', [version, node_version, commit]).set(1)
}
