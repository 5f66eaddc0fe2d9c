import type { Logger } from '../../telemetry/logger.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
import type { EncodedConfig, PrimaryMessage, WorkerMessage } from '../messages.ts'
import type { PreloadedWorker } from './preload.ts'
import type { Listeners } from './reuseport-sockets.ts'
import type { WorkerName } from './worker-process.ts'

/** What the primary hands to its pool of workers. */
export interface WorkersOptions {
  readonly count: number
  /** The first worker of its slot. Left out: it is started as the others are. */
  readonly preloaded?: PreloadedWorker
  /** What a worker begins with, once it can: workers load their code meanwhile. Never rejects. */
  readonly config: () => Promise<EncodedConfig>
  readonly listeners: Listeners
  /** One socket that all workers accept from; undefined: there is no private listener. */
  readonly privateListener: Listeners | undefined
  readonly log: Logger
  readonly recorder: Recorder
  /** How long a worker may take until it can serve; then it is ended, and replaced. Default 60_000. */
  readonly startTimeoutMs?: number
  /** A worker that has sent no message for so long is killed and replaced. */
  readonly workerTimeoutMs: () => number
  /** How long a worker that was replaced may finish what it has, in milliseconds. */
  readonly retireTimeoutMs: () => number
  /** What a worker says, other than about its listeners. */
  onMessage(worker: WorkerName, message: WorkerMessage, answer: (message: PrimaryMessage) => void): void
  /** A process has ended and everything it said has been heard; its name never comes again. */
  onGone(worker: WorkerName): void
}
