import { isatty } from 'node:tty'
import { createLineWriter } from './line-writer.ts'
import type { Logger } from './logger.ts'

/** One answered request, in the facts that the metrics count. Nothing of a query, a header or a body. */
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
  /** 0 where no upstream was asked. */
  readonly upstreamMs: number
}

export interface OperationMembers {
  readonly grouping: string
  readonly operation: string
  /** Both as JSON, made once. */
  readonly json: string
}

export const operationMembers = (grouping: string, operation: string): OperationMembers => ({
  grouping,
  operation,
  json: `"grouping":${JSON.stringify(grouping)},"operation":${JSON.stringify(operation)}`,
})

export interface AccessLog {
  write(entry: AccessEntry): void
  flush(): void
}

/**
 * The access log beside `log`: the same stream, the same JSON, but put together by hand, since it is written for every
 * request. On a terminal and at levels above info it is left to `log` itself.
 */
export const createAccessLog = (log: Logger): AccessLog => {
  if (!log.isLevelEnabled('info')) return { write: () => undefined, flush: () => undefined }
  if (isatty(1)) return { write: entry => log.info(toObject(entry)), flush: () => undefined }
  const lines = createLineWriter(dropped => log.warn({ event: 'access_lines_dropped', dropped }))
  const time = createTimeText()
  const members = `"worker_pid":${process.pid},"event":"request","request_id":"`
  return {
    write(entry) {
      const upstream = entry.upstreamMs === 0 ? '' : `,"upstream_ms":${round(entry.upstreamMs)}`
      const client = entry.client_id === undefined ? '' : `,"client_id":${JSON.stringify(entry.client_id)}`
      lines.write(
        `{"level":"info","time":"${time()}",${members}${entry.request_id}",${entry.operation.json},"method":"${entry.method}","path":${JSON.stringify(entry.path)},"status":${entry.status}${client},"address":"${entry.address}","duration_ms":${round(entry.durationMs)}${upstream}}\n`,
      )
    },
    flush: lines.flush,
  }
}

const toObject = ({ operation, durationMs, upstreamMs, ...rest }: AccessEntry): Readonly<Record<string, unknown>> => ({
  event: 'request',
  ...rest,
  grouping: operation.grouping,
  operation: operation.operation,
  duration_ms: round(durationMs),
  ...(upstreamMs === 0 ? {} : { upstream_ms: round(upstreamMs) }),
})

const round = (ms: number): number => Math.round(ms * 1000) / 1000

/** ISO 8601 of now; made once a millisecond, not once a line. */
const createTimeText = (): (() => string) => {
  let atMs = 0
  let text = ''
  return () => {
    const nowMs = Date.now()
    if (nowMs !== atMs) {
      atMs = nowMs
      text = new Date(nowMs).toISOString()
    }
    return text
  }
}
