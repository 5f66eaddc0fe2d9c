import cluster, { type Worker } from 'node:cluster'
import { type WorkerMessage, workerEnvironment } from '../messages.ts'
import { helperThreads } from '../v8/helper-threads.ts'

/** A worker that loads its code while the primary does not know yet what there is to serve. */
export interface PreloadedWorker extends Disposable {
  /** Its slot. */
  readonly slot: number
  /** Hands it over, once, with what it has said; undefined where it has been handed over, or has ended. */
  take(): Preloaded | undefined
}

export interface Preloaded {
  readonly worker: Worker
  readonly said: readonly WorkerMessage[]
}

/**
 * Half of what Node takes for each of its spaces for young objects. Each request's buffers and parser are young and soon
 * gone: less of what is gone is kept, at no cost in time that could be measured.
 */
const youngHeapMiB = 8

/** Says how workers are started; to be called before the first one is. */
export const prepareForks = (): void =>
  cluster.setupPrimary({
    exec: process.argv[1] ?? '',
    args: ['worker'],
    execArgv: [
      ...process.execArgv,
      `--max-semi-space-size=${youngHeapMiB}`,
      `--v8-pool-size=${helperThreads}`,
      // Of `node:ffi`, which nothing depends on.
      '--disable-warning=ExperimentalWarning',
    ],
    serialization: 'json',
  })

export const fork = (slot: number): Worker => cluster.fork({ [workerEnvironment.slot]: String(slot) })

/**
 * Starts the worker of the first slot, which there is whatever the configuration says: to load its code takes as long as to read
 * the configuration, and both go on at the same time. Disposing of it ends it, unless it has been handed over.
 */
export const preloadWorker = (): PreloadedWorker => {
  prepareForks()
  const slot = 0
  const worker = fork(slot)
  const said: WorkerMessage[] = []
  const hear = (message: WorkerMessage): void => void said.push(message)
  // One that cannot even start is found to have ended.
  const ignore = (): void => undefined
  let isOurs = true
  worker.on('message', hear).on('error', ignore)
  return {
    slot,
    take() {
      if (!isOurs || worker.isDead()) return undefined
      isOurs = false
      worker.off('message', hear).off('error', ignore)
      return { worker, said }
    },
    [Symbol.dispose]() {
      if (isOurs) worker.process.kill('SIGKILL')
    },
  }
}
