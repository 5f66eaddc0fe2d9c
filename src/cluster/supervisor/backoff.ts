/** How long the replacement of a worker waits, so that one that dies at once does not take the machine's time. */
export interface Backoff {
  /**
   * A worker has ended.
   * @param servedMs how long it had served; 0 where it never did
   * @returns milliseconds until its replacement may start
   */
  afterDeath(servedMs: number): number
}

/** A worker that served this long was healthy: its replacement starts at once. */
export const healthyAfterMs = 1000
const firstDelayMs = 250
/** Longest delay: how long a machine may stay without a worker whose cause of death has gone. */
export const longestDelayMs = 5000

/** The first death costs nothing; of those that follow without a healthy life between, each waits twice as long. */
export const createBackoff = (): Backoff => {
  let deathsInARow = 0
  return {
    afterDeath(servedMs) {
      deathsInARow = servedMs >= healthyAfterMs ? 1 : deathsInARow + 1
      return deathsInARow === 1 ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** (deathsInARow - 2))
    },
  }
}
