import type { Logger } from '../../telemetry/logger.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
import type { EncodedConfig, PrimaryMessage, WorkerMessage } from '../messages.ts'
import type { PreloadedWorker } from './preload.ts'
import type { Listeners } from './reuseport-sockets.ts'
import type { WorkerName } from './worker-process.ts'

export interface WorkerPoolOptions {
  readonly count: number
  /** The first worker of its slot, forked before. If left out, the pool forks it like the others. */
  readonly preloaded?: PreloadedWorker
  readonly listeners: Listeners
  /** One socket that all workers accept from; undefined: there is no private listener. */
  readonly privateListener: Listeners | undefined
  readonly log: Logger
  readonly recorder: Recorder
  /** If a worker cannot serve after this time, the pool kills and replaces it. Default 60_000. */
  readonly startTimeoutMs?: number
}

/** The rest of the primary, as the pool sees it. */
export interface WorkerPoolHandlers {
  /** The configuration for a worker that has loaded its code. The promise never rejects. */
  readonly config: () => Promise<EncodedConfig>
  /** A worker that has sent no message for this time is killed and replaced. */
  readonly workerTimeoutMs: () => number
  /** Time for a worker that was replaced to finish its requests, in milliseconds. */
  readonly retireTimeoutMs: () => number
  /** Called for each message that is not about the worker's listeners. */
  onMessage(worker: WorkerName, message: WorkerMessage, answer: (message: PrimaryMessage) => void): void
  /** A process has exited, and all its messages have been read. No later process has the same name. */
  onGone(worker: WorkerName): void
}
