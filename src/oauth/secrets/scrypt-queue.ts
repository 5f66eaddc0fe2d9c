import { type BinaryLike, type ScryptOptions, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { OAuthError } from '../../errors.ts'
import { FairQueue } from './fair-queue.ts'

/** The parameters of one scrypt run (RFC 7914 section 2). */
export interface ScryptJob {
  readonly secret: BinaryLike
  readonly salt: Buffer
  readonly lengthBytes: number
  /** N = 2^ln. */
  readonly ln: number
  readonly r: number
  readonly p: number
  /** Undefined: the run belongs to a CLI command, which has the process for itself. */
  readonly owner?: SecretOwner
}

/** The account that a presented secret is checked for, and the address that it came from. */
export interface SecretOwner {
  readonly kind: 'person' | 'client'
  readonly account: string
  readonly address: string
}

/** Half of libuv's four threads, so that file access and DNS look-ups never wait behind passwords. */
const maxRunning = 2

/**
 * About four seconds of work at 33 ms for each run. A check beyond this limit is refused at once, and its sender may
 * retry.
 */
const maxWaiting = 200

const runScrypt = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt)

/** One run that waits for a thread. */
interface QueuedRun {
  start(): void
  refuse(): void
}

/** Users and clients have separate queues, so that neither fills the queue of the other. */
interface Lane {
  readonly queue: FairQueue<QueuedRun>
  running: number
}

const newLane = (): Lane => ({ queue: new FairQueue(maxWaiting), running: 0 })
const lanes = { person: newLane(), client: newLane() }

/**
 * Runs scrypt off the main thread, at most two runs at once in this process. Users and clients have a queue each and
 * share the threads equally. Within a queue the accounts take turns, and so do the addresses: many wrong secrets for
 * one account, or from one address, delay each other but no other account at another address.
 * @throws OAuthError temporarily_unavailable for the last in order if more than 200 wait
 */
export const deriveKey = async (job: ScryptJob): Promise<Buffer> => {
  const { secret, salt, lengthBytes, ln, r, p, owner } = job
  const lane = lanes[owner?.kind ?? 'client']
  const N = 2 ** ln
  await waitForThread(lane, owner, N * r * p)
  try {
    return await runScrypt(secret, salt, lengthBytes, { N, r, p, maxmem: 128 * r * (N + p + 2) })
  } finally {
    lane.running--
    startWaiting()
  }
}

const waitForThread = (lane: Lane, owner: SecretOwner | undefined, cost: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const flows = [`account ${owner?.account ?? ''}`, `address ${owner?.address ?? ''}`]
    const work: QueuedRun = { start: resolve, refuse: () => reject(overloaded()) }
    lane.queue.add({ work, flows, cost })?.refuse()
    startWaiting()
  })

/** Gives free threads to the queue with fewer running jobs. */
const startWaiting = (): void => {
  const { person, client } = lanes
  while (person.running + client.running < maxRunning) {
    const [first, second] = person.running <= client.running ? [person, client] : [client, person]
    const lane = first.queue.length > 0 ? first : second
    const next = lane.queue.take()
    if (next === undefined) return
    lane.running++
    next.start()
  }
}

const overloaded = (): OAuthError =>
  new OAuthError('temporarily_unavailable', 'Too many secrets are being checked; try again in a moment.', {
    headers: { 'retry-after': '1' },
  })
