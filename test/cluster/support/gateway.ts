import { type RunningSidegate, startSidegate, type TestConfig } from '../../support/sidegate.ts'

type Teardown = Parameters<typeof startSidegate>[0]

/** The path of an operation that every worker answers by itself, for anybody and without a plan. */
export const openPath = '/.well-known/jwks.json'

/** A gateway of several workers that publishes `openPath`. */
export const startGateway = (t: Teardown, changes: TestConfig = {}): Promise<RunningSidegate> =>
  startSidegate(t, {
    workers: 2,
    groupings: [{ name: 'Open', operations: [{ method: 'GET', path: openPath, serves: 'jwks', plan: 'none' }] }],
    ...changes,
  })

/** A line of the log, as far as the tests look into it. */
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

/** How many workers are serving, by the gateway's own word. */
export const countServing = async (sidegate: RunningSidegate): Promise<number> => {
  const lines = await (await fetch(`${sidegate.admin}/readyz?verbose`)).text()
  return Number(/^workers: (\d+) of/m.exec(lines)?.[1])
}

/** The process id of a worker, of another one each turn. Throws where none is known: 0 would mean this process and all of its group. */
export const workerPid = (sidegate: RunningSidegate, turn = 0): number => {
  const pids = sidegate.workerPids()
  const pid = pids[turn % pids.length]
  if (pid === undefined) throw new Error('no worker is known to be up')
  return pid
}
