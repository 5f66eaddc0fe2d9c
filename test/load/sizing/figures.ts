/** The measured figures, all from the same small machine. */
export interface Figures {
  /**
   * Forwarded requests a second of a worker with a core for itself, for many clients in turn: `npm run bench`, row
   * `clients`.
   */
  readonly forwarded: number
  /** Tokens a second of such a worker: row `tokens`. */
  readonly tokens: number
  /**
   * Microseconds of a Redis core for a plan that is checked in a call of its own: `npx node test/load/redis-cost.ts`,
   * a Cluster and many clients. Busy workers put about twenty requests into one call to a single Redis, for half of
   * that.
   */
  readonly redisUs: number
  /** Calls a second that each worker makes by the clock: three feeds every 300 ms, and pings. */
  readonly workerCalls: number
  /**
   * Bytes in Redis of a plan's counter with a few requests in it, and of a grant with its refresh token: `growth.ts`.
   */
  readonly counterBytes: number
  readonly grantBytes: number
  /** Bytes in Redis of a sign-in in which no person has proven anything: `growth.ts`. */
  readonly interactionBytes: number
  /** The maximum number of these sign-ins (`login.maxInteractions`): the default of a pod with 1 GiB of memory. */
  readonly maxInteractions: number
  /** Resident memory of a worker and of a primary process under load, in megabytes. */
  readonly workerMb: number
  readonly primaryMb: number
}

export const measured: Figures = {
  forwarded: 16_200,
  tokens: 10_800,
  redisUs: 17,
  workerCalls: 12,
  counterBytes: 500,
  grantBytes: 1340,
  interactionBytes: 990,
  maxInteractions: 65_536,
  workerMb: 140,
  primaryMb: 105,
}
