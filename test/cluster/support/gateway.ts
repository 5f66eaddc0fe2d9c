import { type RunningSidegate, startSidegate, type TestConfig } from '../../support/sidegate.ts'

type Teardown = Parameters<typeof startSidegate>[0]

/** The path of an operation that every worker answers by itself, without credentials and without a plan. */
export const openPath = '/.well-known/jwks.json'

/** A gateway of several workers that publishes `openPath`. */
export const startGateway = (t: Teardown, changes: TestConfig = {}): Promise<RunningSidegate> =>
  startSidegate(t, {
    workers: 2,
    groupings: [{ name: 'Open', operations: [{ method: 'GET', path: openPath, serves: 'jwks', plan: 'none' }] }],
    ...changes,
  })

/** The fields of a log line that the tests read. */
export interface LogEntry {
  readonly event?: string
  readonly time?: string
  readonly request_id?: string
  readonly worker_pid?: number
  readonly slot?: number
  readonly replaced_in_ms?: number
  readonly reason?: string
  readonly part?: string
  readonly cause?: string
  readonly problems?: readonly string[]
}

export const logEntries = (sidegate: RunningSidegate, event: string): readonly LogEntry[] =>
  sidegate.output
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as LogEntry)
    .filter(entry => entry.event === event)

/** How many workers are serving, according to `/readyz?verbose`. */
export const countServing = async (sidegate: RunningSidegate): Promise<number> => {
  const lines = await (await fetch(`${sidegate.admin}/readyz?verbose`)).text()
  return Number(/^workers: (\d+) of/m.exec(lines)?.[1])
}

/**
 * The process id of a worker, of a different worker for each turn. Throws if no worker is known, because `kill` would
 * take 0 as the process group of this process.
 */
export const workerPid = (sidegate: RunningSidegate, turn = 0): number => {
  const pids = sidegate.workerPids()
  const pid = pids[turn % pids.length]
  if (pid === undefined) throw new Error('no worker is known to be running')
  return pid
}
