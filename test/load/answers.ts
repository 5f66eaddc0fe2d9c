/** One answer that a load got. */
export interface LoadAnswer {
  readonly status: number
  readonly sentAtMs: number
  readonly answeredAtMs: number
}

/** The result of a load, as the client that sent it sees it. */
export interface LoadResult {
  readonly answersPerSec: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** How many answers had each status, the lowest status first. */
  readonly statuses: readonly (readonly [status: number, count: number])[]
  /** The most that were certainly let in (2xx) within any one second. */
  readonly mostInOneSecond: number
  /** Answers that are neither 2xx nor 429. */
  readonly failed: number
}

/**
 * @param answers at least one
 * @param durationSec how long the load was sent: its last requests may come long before its end
 */
export const summarize = (answers: readonly LoadAnswer[], durationSec: number): LoadResult => {
  const waitsMs = inOrder(answers.map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs))
  const byStatus = Map.groupBy(answers, ({ status }) => status)
  return {
    answersPerSec: answers.length / durationSec,
    p50Ms: quantile(waitsMs, 0.5),
    p99Ms: quantile(waitsMs, 0.99),
    statuses: [...byStatus].map(([status, those]) => [status, those.length] as const).sort(([a], [b]) => a - b),
    mostInOneSecond: mostCertainWithin(answers.filter(isAdmitted), 1_000),
    failed: answers.filter(answer => !isAdmitted(answer) && answer.status !== 429).length,
  }
}

const isAdmitted = ({ status }: LoadAnswer): boolean => status >= 200 && status < 300

/**
 * Only the gateway knows at which moment between sending and answer it decided a request. So this counts, for each
 * window, the requests that were both sent and answered within it. A request that was sent before a whole window and
 * answered after it makes the count too small, never too large.
 */
const mostCertainWithin = (answers: readonly LoadAnswer[], windowMs: number): number => {
  const sendings = inOrder(answers.map(({ sentAtMs }) => sentAtMs))
  const endings = inOrder(answers.map(({ answeredAtMs }) => answeredAtMs))
  let most = 0
  let ended = 0
  for (const [sentBefore, sentAtMs] of sendings.entries()) {
    while (ended < endings.length && (endings[ended] ?? 0) < sentAtMs + windowMs) ended++
    most = Math.max(most, ended - sentBefore)
  }
  return most
}

const quantile = (rising: readonly number[], share: number): number =>
  rising[Math.ceil(share * rising.length) - 1] ?? Number.NaN

const inOrder = (numbers: readonly number[]): readonly number[] => numbers.toSorted((a, b) => a - b)
