import cluster, { type Worker } from 'node:cluster'
import { type WorkerMessage, workerEnvironment } from '../messages.ts'

/** A worker that loads its code while the primary still reads the configuration. */
export interface PreloadedWorker extends Disposable {
  readonly slot: number
  /** Hands the worker over, once; undefined if it was handed over before, or has exited. */
  take(): Preloaded | undefined
}

export interface Preloaded {
  readonly worker: Worker
  /** The messages that the worker has sent before it was handed over. */
  readonly received: readonly WorkerMessage[]
}

/** The V8 flags of a worker. */
const v8Flags: readonly string[] = [
  // Half of Node's default. The buffers and the parser of a request are garbage soon after it: a smaller space keeps
  // less garbage, and the time that more frequent minor collections take could not be measured.
  '--max-semi-space-size=8',
  // Node's default is 4 threads. There is a worker for each core, so more threads of V8 would take CPU time from the
  // requests.
  '--v8-pool-size=1',
  // After a burst of objects that live long, such as ten thousand new connections, V8 would allocate all later objects
  // of the same allocation sites in the old generation. They are garbage soon, but remain until a full collection,
  // together with all objects that they reference: with two thousand short connections a second the heap grew to five
  // times its size.
  '--no-allocation-site-pretenuring',
]

/** `node:sqlite` is experimental in Node 24: each worker would print a warning. */
const silenceSqlite = '--disable-warning=ExperimentalWarning'

/** Sets how workers are forked. Must run before the first fork. */
export const prepareForks = (): void =>
  cluster.setupPrimary({
    exec: process.argv[1] ?? '',
    args: ['worker'],
    execArgv: [...process.execArgv, ...v8Flags, silenceSqlite],
    serialization: 'json',
  })

export const fork = (slot: number): Worker => cluster.fork({ [workerEnvironment.slot]: String(slot) })

/**
 * Forks the worker of slot 0, which every configuration needs: a worker takes as long to load its code as the primary
 * takes to read the configuration, and both do so at the same time. Disposing of it kills the worker, unless it has
 * been handed over.
 */
export const preloadWorker = (): PreloadedWorker => {
  prepareForks()
  const slot = 0
  const worker = fork(slot)
  const received: WorkerMessage[] = []
  const receive = (message: WorkerMessage): void => void received.push(message)
  // If the process cannot even be started, `isDead` finds it later.
  const ignore = (): void => undefined
  let isOurs = true
  worker.on('message', receive).on('error', ignore)
  return {
    slot,
    take() {
      if (!isOurs || worker.isDead()) return undefined
      isOurs = false
      worker.off('message', receive).off('error', ignore)
      return { worker, received }
    },
    [Symbol.dispose]() {
      if (isOurs) worker.process.kill('SIGKILL')
    },
  }
}
