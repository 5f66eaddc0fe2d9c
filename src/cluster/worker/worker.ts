import cluster from 'node:cluster'
import { flushCompileCache } from 'node:module'
import { type App, createApp, createClientIntake } from '../../app.ts'
import { poll } from '../../poll.ts'
import { createAccessLog } from '../../telemetry/access-log.ts'
import { createAudit } from '../../telemetry/audit.ts'
import { createLogger, readLogLevel } from '../../telemetry/logger.ts'
import { createRecorder, type Recorder } from '../../telemetry/recorder.ts'
import { type WorkerMessage, workerEnvironment } from '../messages.ts'
import { heartbeatEveryMs } from '../supervisor/watchdog.ts'
import { createCommandHandler } from './commands.ts'
import { askForConfig } from './first-config.ts'
import { createLimiterRpc } from './limiter-rpc.ts'
import { createLocalShare } from './local-share.ts'
import { createRevocationChannel } from './revocation-channel.ts'

/** Delay between a change of the metrics and its report: a `kill -9` loses at most the counts of this time. */
const reportAfterMs = 100

/** How often changes are reported that do not cause a report by themselves. */
const reportQuietEveryMs = 10_000

/**
 * One serving process: asks for its configuration, builds the app, accepts from the listeners that the primary sends,
 * and stops at its command.
 */
export const runWorker = async (): Promise<void> => {
  ignoreTerminalSignals()
  process.once('disconnect', () => process.exit(1))
  const intake = createClientIntake()
  const { config, isStale } = await askForConfig(intake, send)
  const slot = Number(process.env[workerEnvironment.slot] ?? 0)
  const recorder = createRecorder(() => void setTimeout(() => report(recorder), reportAfterMs).unref())
  const dropped = recorder.counter('logLinesDropped', [])
  const base = { worker_pid: process.pid }
  const logger = await createLogger({ level: readLogLevel(process.env), base, onDrop: lines => dropped.add(lines) })
  const { log, flush } = logger
  process.once('uncaughtException', error => {
    log.fatal({ event: 'worker_crashed', err: error }, 'a worker crashed')
    flush()
    process.exit(1)
  })

  const charges = createLimiterRpc(send)
  const share = createLocalShare(slot, config)
  const app = await createApp(config, {
    log,
    accessLog: createAccessLog(logger),
    audit: createAudit(logger),
    recorder,
    limiterChannel: charges.ask,
    share: share.now,
    onChange: (id, entry) => send({ type: 'change', id, entry }),
    onRevoked: createRevocationChannel(send),
    onCertificateRefused: (reason, content) => send({ type: 'certificate', reason, content }),
    onStoreState: (what, up, reason) => send({ type: 'store', what, up, ...(reason === undefined ? {} : { reason }) }),
  })

  let hasStarted = false
  const start = (): void => {
    if (hasStarted) return
    hasStarted = true
    send({ type: 'started' })
    flushCompileCache()
  }
  const orders = createCommandHandler({
    slot,
    app,
    intake,
    charges,
    share,
    send,
    report: asked => report(recorder, asked),
    start,
    end: () => end(app, recorder, flush),
  })
  process.on('message', orders)
  poll(() => report(recorder), reportQuietEveryMs)
  poll(() => send({ type: 'heartbeat' }), heartbeatEveryMs)
  if (isStale()) send({ type: 'loaded' })
  else start()
}

/** Ctrl-C reaches the whole process group; only the primary decides when workers stop. */
const ignoreTerminalSignals = (): void => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined)
}

const send = (message: WorkerMessage): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

const report = (recorder: Recorder, asked?: number): void => {
  const changes = recorder.takeChanges()
  if (asked !== undefined) send({ type: 'metrics', changes, asked })
  else if (changes) send({ type: 'metrics', changes })
}

/** Every request is answered: sends the last changes of the metrics, and exits. */
const end = async (app: App, recorder: Recorder, flush: () => void): Promise<void> => {
  await app.close()
  report(recorder)
  flush()
  cluster.worker?.disconnect()
  process.exit(0)
}
