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
import { WorkerPool, type Workers } from '../supervisor/worker-pool.ts'
import { type Admin, type AdminView, startAdmin } from './admin-server.ts'
import { createAdminView, type RunState } from './admin-status.ts'
import { withListenerName } from './bind-error.ts'
import type { ConfigSource } from './config-source.ts'
import { type ChangeWatch, createCertificateWatch, createChangeWatch } from './dedup.ts'
import { nextSignal, untilDrained } from './drain.ts'
import { type EvictionReport, reportEviction } from './eviction-report.ts'
import { createMessageRouter } from './message-router.ts'
import { createReload, type Reload } from './reload.ts'
import { followConfig } from './reload-triggers.ts'
import { createReplicaCount } from './replica-count.ts'
import { replaceOnSignal } from './rolling-restart.ts'
import { createScrapeFanOut, type ScrapeFanOut } from './scrape-fan-out.ts'
import { createStoreFileWatch, type StoreFileWatch } from './store-file-watch.ts'
import { createStoreHealth, type StoreHealth } from './store-health.ts'

export interface RunOptions {
  /** The files of the configuration, for the reloads. */
  readonly source: ConfigSource
  /** With the demo upstream and a greeting, as for `npm start` without arguments. */
  readonly demo: boolean
  /** The first worker, which was forked before. */
  readonly preloaded: PreloadedWorker
}

/**
 * The primary: binds the listeners, starts the workers, serves the admin port, and drains.
 * @returns the exit code: 0 after a drain
 * @throws Error one line for a person, if a port, the store or a worker is not available
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

/**
 * An unexpected error: standard error gets its message in one line, the log gets the rest. The workers notice that the
 * channel closes, and exit too.
 */
const crash = (error: Error, { log, flush }: ProcessLogger): never => {
  writeToStderr(`sidegate: ${error.message}\n`)
  log.fatal({ event: 'primary_crashed', err: error }, 'the primary crashed')
  flush()
  return process.exit(1)
}

/**
 * Writes without blocking, because a reader of standard error that has stalled must not keep a crashed process alive.
 */
const writeToStderr = (line: string): void => {
  try {
    openOutput(2).write(Buffer.from(line))
  } catch {
    // Standard error is closed; the log contains the reason too.
  }
}

/** The values that every step of the start needs. */
interface PrimaryScope {
  readonly config: SidegateConfig
  readonly options: RunOptions
  readonly logger: ProcessLogger
  readonly recorder: Recorder
  /** Closes everything that the steps have opened, in reverse order. */
  readonly cleanup: DisposableStack
}

const serve = async (
  config: SidegateConfig,
  options: RunOptions,
  logger: ProcessLogger,
  recorder: Recorder,
): Promise<number> => {
  const { log } = logger
  using cleanup = new DisposableStack()
  const scope: PrimaryScope = { config, options, logger, recorder, cleanup }
  // Listens from the start, so that a signal before Sidegate serves ends it too.
  const firstSignal = nextSignal()
  const listeners = await bindAll(scope)
  recordBuild(recorder)
  const isPrepared = Promise.withResolvers<void>()
  // Workers load their code while the primary opens everything else.
  const supervision = startWorkers(scope, listeners, isPrepared.promise)
  const { workers, reload } = supervision
  const state: RunState = { isReady: false, isDraining: false }
  const stores = await openStoreWatches(scope, supervision)
  const admin = await openAdmin(scope, createAdminView({ config, state, ...supervision, ...stores }))
  const demo = options.demo ? await import('../../demo/demo.ts') : undefined
  if (demo) cleanup.adopt(await demo.startDemo(config), upstream => upstream.close())
  cleanup.adopt(await createReplicaCount(config, workers), replicas => replicas.close())
  isPrepared.resolve()

  const ready = Promise.withResolvers<void>()
  const following = followConfig(reload, options.source, ready.promise)
  cleanup.defer(following.close)
  cleanup.defer(replaceOnSignal(workers, log, { ready: ready.promise, obstacle: replacementBlocker(config) }).close)
  const outcome = await Promise.race([supervision.started, firstSignal])
  if (outcome !== undefined) {
    log.info({ event: 'stopped', signal: outcome }, 'stopped before it served')
    return 0
  }
  stores.onWorkersReady()
  state.isReady = true
  ready.resolve()
  const urls = { listen: listeners.traffic.url, admin: admin.url }
  const internal = listeners.internal && { internal: listeners.internal.url }
  log.info({ event: 'ready', ...urls, ...internal, ...startupFacts(config) }, 'ready')
  flushCompileCache()
  if (demo) logger.print(demo.greeting(config, urls))
  return await untilDrained(() => reload.config().shutdown, {
    firstSignal,
    workers,
    listeners: listeners.internal ? [listeners.traffic, listeners.internal] : [listeners.traffic],
    log,
    onDraining() {
      state.isDraining = true
      following.close()
    },
  })
}

interface BoundListeners {
  readonly traffic: Listeners
  /** Undefined: there is no private listener. */
  readonly internal: Listeners | undefined
}

const bindAll = async ({ config, options, cleanup }: PrimaryScope): Promise<BoundListeners> => {
  const scheme = config.tls === undefined ? 'http' : 'https'
  const { host, port } = config.listen
  const traffic = await withListenerName('listen', options.demo, bindListeners(host, port, config.workers, scheme))
  cleanup.defer(traffic.close)
  const internal = await bindPrivately(config)
  cleanup.defer(() => internal?.close())
  return { traffic, internal }
}

/** One socket for all workers: the calls of a login are few, and any worker may take one from the queue. */
const bindPrivately = async (config: SidegateConfig): Promise<Listeners | undefined> => {
  const internal = privateOptions(config)
  const scheme = internal?.tls === undefined ? 'http' : 'https'
  if (!internal) return undefined
  const { host, port } = internal.listen
  return withListenerName('internal.listen', false, bindListeners(host, port, 1, scheme))
}

/** The workers, and the parts of the primary that their messages go to. */
interface Supervision {
  readonly workers: Workers
  /** Resolves when all workers serve; rejects if one cannot start. */
  readonly started: Promise<void>
  readonly reload: Reload
  readonly scrapeFanOut: ScrapeFanOut
  readonly storeWatch: StoreHealth
  readonly changeWatch: ChangeWatch
}

/** @param prepared resolves when workers may have their configuration */
const startWorkers = (scope: PrimaryScope, listeners: BoundListeners, prepared: Promise<void>): Supervision => {
  const { config, options, logger, recorder, cleanup } = scope
  const { log } = logger
  const workers = new WorkerPool({
    count: config.workers,
    preloaded: options.preloaded,
    listeners: listeners.traffic,
    privateListener: listeners.internal,
    log,
    recorder,
  })
  cleanup.defer(() => workers.kill())
  const aggregate = createAggregate()
  const reload = createReload({ config, source: options.source, workers, log, recorder, clock: systemClock })
  const scrapeFanOut = createScrapeFanOut(aggregate, recorder, workers)
  const storeWatch = createStoreHealth(config.store.kind, log)
  const changeWatch = createChangeWatch(createAudit(logger), systemClock)
  const certificateWatch = createCertificateWatch(log, systemClock)
  const watches = { storeWatch, changeWatch, certificateWatch }
  const decide = createLimiterService()
  const started = workers.start({
    config: () => prepared.then(reload.encodedConfig),
    workerTimeoutMs: () => reload.config().workerTimeoutMs,
    retireTimeoutMs: () => reload.config().shutdown.timeoutMs,
    ...createMessageRouter({ aggregate, scrapeFanOut, decide, reload, workers, ...watches }),
  })
  // `serve` handles the rejection when everything else is open; until then it must not count as unhandled.
  started.catch(() => undefined)
  cleanup.defer(followRemovedGroupings({ config: reload.config, drop: aggregate.drop, clock: systemClock }).close)
  return { workers, started, reload, scrapeFanOut, storeWatch, changeWatch }
}

interface StoreWatches {
  readonly storeFile: StoreFileWatch
  readonly eviction: EvictionReport
  /** The workers have the store open now. */
  onWorkersReady(): void
}

const openStoreWatches = async (
  { config, logger, recorder, cleanup }: PrimaryScope,
  { storeWatch, changeWatch }: Supervision,
): Promise<StoreWatches> => {
  const { log } = logger
  const store = await prepareStore(config, changeWatch.saw)
  cleanup.defer(store.close)
  const { unavailableReason } = store
  if (unavailableReason !== undefined) storeWatch.report('primary', 'store', false, unavailableReason)
  const storeFile = cleanup.adopt(createStoreFileWatch(config.store, log), watch => watch.close())
  const eviction = cleanup.adopt(await reportEviction(config, log, recorder), report => report.close())
  return {
    storeFile,
    eviction,
    onWorkersReady() {
      store.close()
      storeFile.begin()
    },
  }
}

const openAdmin = async ({ config, options, cleanup }: PrimaryScope, view: AdminView): Promise<Admin> => {
  const { host, port } = config.admin
  const admin = await withListenerName('admin', options.demo, startAdmin(host, port, view))
  cleanup.defer(admin.close)
  return admin
}

/** Why no worker can be replaced by another; undefined if they can. */
const replacementBlocker = ({ store }: SidegateConfig): string | undefined =>
  store.kind === 'memory' ? 'with store: memory: a new worker would begin without the tokens and the keys' : undefined

/** The facts about the configuration on the `ready` line. */
const startupFacts = (config: SidegateConfig) => ({
  workers: config.workers,
  store: config.store.kind,
  issuer: config.issuer,
})

const recordBuild = (recorder: Recorder): void => {
  const { version, node_version, commit } = buildInfo()
  recorder.gauge('buildInfo', [version, node_version, commit]).set(1)
}
