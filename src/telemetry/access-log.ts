import type { LogEntry } from './log-events.ts'
import type { ProcessLogger } from './logger.ts'
import { redactPath } from './redact-path.ts'
import { createTimestamp } from './timestamp.ts'

/** One answered request, as the facts that the metrics count. Contains nothing of a query, a header or a body. */
export interface AccessEntry {
  readonly request_id: string
  /** Texts that are the same for every request of an operation, as JSON members; see `operationMembers`. */
  readonly operation: OperationMembers
  readonly method: string
  readonly path: string
  readonly status: number
  readonly client_id: string | undefined
  readonly address: string
  readonly durationMs: number
  /** 0 if the request was not forwarded. */
  readonly upstreamMs: number
  /** Why a client's proof was refused: one of a closed list. */
  readonly error_code?: string | undefined
  /** The gateway that sent the forward-auth request and forwards the original one itself. */
  readonly checked_for?: string | undefined
}

export interface OperationMembers {
  readonly grouping: string
  readonly operation: string
  /** Both as JSON, rendered once. */
  readonly json: string
}

export const operationMembers = (grouping: string, operation: string): OperationMembers => ({
  grouping,
  operation,
  json: `"grouping":${JSON.stringify(grouping)},"operation":${JSON.stringify(operation)}`,
})

export interface AccessLog {
  write(entry: AccessEntry): void
}

/**
 * The access log beside `log`: the same stream and the same JSON, but rendered by hand, because a line is written for
 * every request. On a terminal, `log` itself writes the lines. At levels above info no access lines are written.
 */
export const createAccessLog = ({ log, lines }: ProcessLogger): AccessLog => {
  if (!log.isLevelEnabled('info')) return { write: () => undefined }
  if (lines === undefined) return { write: entry => log.info(toObject(entry)) }
  const beforeId = `","worker_pid":${process.pid},"event":"request","request_id":"`
  const timestamp = createTimestamp()
  return {
    write(entry) {
      const upstream = entry.upstreamMs === 0 ? '' : `,"upstream_ms":${toText(entry.upstreamMs)}`
      const client = entry.client_id === undefined ? '' : `,"client_id":${JSON.stringify(entry.client_id)}`
      const errorCode = entry.error_code === undefined ? '' : `,"error_code":"${entry.error_code}"`
      const checked = entry.checked_for === undefined ? '' : `,"checked_for":"${entry.checked_for}"`
      lines.write(
        `{"level":"info","time":"${timestamp()}${beforeId}${entry.request_id}",${entry.operation.json},"method":"${entry.method}","path":${JSON.stringify(redactPath(entry.path))},"status":${entry.status}${client},"address":"${entry.address}","duration_ms":${toText(entry.durationMs)}${upstream}${errorCode}${checked}}\n`,
      )
    },
  }
}

const toObject = ({
  operation,
  durationMs,
  upstreamMs,
  error_code,
  checked_for,
  ...rest
}: AccessEntry): LogEntry<'request'> => ({
  event: 'request',
  ...rest,
  path: redactPath(rest.path),
  grouping: operation.grouping,
  operation: operation.operation,
  duration_ms: round(durationMs),
  ...(upstreamMs === 0 ? {} : { upstream_ms: round(upstreamMs) }),
  ...(error_code === undefined ? {} : { error_code }),
  ...(checked_for === undefined ? {} : { checked_for }),
})

const round = (ms: number): number => Math.round(ms * 1000) / 1000

/** Milliseconds, rounded as `round` does. The fraction comes from a table, because formatting it takes long. */
const toText = (ms: number): string => {
  const micros = Math.round(ms * 1000)
  return Math.trunc(micros / 1000) + (fractions[micros % 1000] ?? '')
}

/** The fractions from the empty text and `.001` to `.999`. */
const fractions: readonly string[] = Array.from({ length: 1000 }, (_, micros) => String(micros / 1000).slice(1))
