/** Delays the replacement of workers that die at once, so that they do not use up the CPU. */
export interface Backoff {
  /**
   * A worker has exited.
   * @param servedMs how long it had served; 0 if it never did
   * @returns milliseconds until its replacement may start
   */
  afterDeath(servedMs: number): number
}

/** A worker that served this long was healthy: its replacement starts at once. */
export const healthyAfterMs = 1000
const firstDelayMs = 250
/** Maximum delay: how long a machine may be without a worker after the cause of the deaths was removed. */
export const longestDelayMs = 5000

/** The first replacement has no delay. Each further one without a healthy worker in between waits twice as long. */
export const createBackoff = (): Backoff => {
  let deathsInARow = 0
  return {
    afterDeath(servedMs) {
      deathsInARow = servedMs >= healthyAfterMs ? 1 : deathsInARow + 1
      return deathsInARow === 1 ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** (deathsInARow - 2))
    },
  }
}
