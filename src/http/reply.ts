import type { ServerResponse } from 'node:http'

/** A whole answer as a value. */
export interface Reply {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: string
  /** Ends the connection after this answer: what came before it cannot be trusted to be framed right. */
  readonly close?: boolean
}

/** The one place that writes whole answers. Does nothing where an answer has begun already. */
export const writeReply = (res: ServerResponse, reply: Reply, requestId: string): void => {
  if (res.headersSent || res.destroyed) return
  if (reply.close) res.shouldKeepAlive = false
  const headers = [...reply.headers, 'x-request-id', requestId]
  if (reply.status !== 204 && reply.status !== 304) {
    headers.push('content-length', String(Buffer.byteLength(reply.body)))
  }
  res.writeHead(reply.status, headers)
  res.end(reply.body)
}
