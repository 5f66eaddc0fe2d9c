import type { Figures } from './figures.ts'

export interface Load {
  readonly requestsPerSec: number
  /** With a request in the last second, each under a plan of its own. */
  readonly clients: number
  /** Users that have signed in at a client, and may refresh. */
  readonly people: number
}

/** The resources that a load takes. */
export interface Need {
  /** Of the gateway's workers, at the use that is aimed at. */
  readonly workerCores: number
  /** With four workers each. */
  readonly pods: number
  readonly gatewayBytes: number
  /** Primaries; one: a single Redis will do. Each has a replica besides. */
  readonly redisPrimaries: number
  /** At most: each request in a call by itself, and what workers ask by the clock. */
  readonly redisCallsPerSec: number
  /** Of all primaries together, fully used. */
  readonly redisCores: number
  /** Of all primaries together. */
  readonly redisBytes: number
}

export const loads: readonly Load[] = [
  { requestsPerSec: 1_000, clients: 50, people: 10_000 },
  { requestsPerSec: 10_000, clients: 1_000, people: 100_000 },
  { requestsPerSec: 100_000, clients: 10_000, people: 1_000_000 },
  { requestsPerSec: 1_000_000, clients: 100_000, people: 10_000_000 },
]

/** Of a hundred requests one asks for a token; the others are forwarded, with a bearer token and under a plan. */
const tokenShare = 0.01
/** How much of a core is used: the rest is for peaks, and for the pod that is being replaced. */
const use = 0.6
const workersPerPod = 4
/** Redis keeps tables half full while they grow, and copies pages while it writes itself to disk. */
const redisReserve = 2

/** The bytes that unauthenticated callers can leave: sign-ins at their limit. */
const abandonedBytes = ({ interactionBytes, maxInteractions }: Figures): number => interactionBytes * maxInteractions

export const toNeed = (load: Load, figures: Figures): Need => {
  const { requestsPerSec } = load
  const workerCores = (requestsPerSec * ((1 - tokenShare) / figures.forwarded + tokenShare / figures.tokens)) / use
  // Two at least, so that one may be replaced.
  const pods = Math.max(2, Math.ceil(workerCores / workersPerPod))
  const byTheClock = pods * workersPerPod * figures.workerCalls
  const redisCores = (requestsPerSec * figures.redisUs) / 1e6
  return {
    workerCores,
    pods,
    gatewayBytes: pods * (figures.primaryMb + workersPerPod * figures.workerMb) * 1e6,
    // Fewer than three primaries are no Cluster.
    redisPrimaries: redisCores <= use ? 1 : Math.max(3, Math.ceil(redisCores / use)),
    redisCallsPerSec: requestsPerSec + byTheClock,
    redisCores,
    redisBytes:
      redisReserve * (load.clients * figures.counterBytes + load.people * figures.grantBytes + abandonedBytes(figures)),
  }
}
