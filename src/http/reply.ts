import type { ServerResponse } from 'node:http'
import { endLingering, endsEarly, markEnding } from './lingering-end.ts'

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
  if (reply.close) {
    res.shouldKeepAlive = false
    markEnding(res.req.socket)
  }
  const bodyBytes = Buffer.byteLength(reply.body)
  const headers = [...reply.headers, 'x-request-id', requestId]
  if (reply.status !== 204 && reply.status !== 304) headers.push('content-length', String(bodyBytes))
  res.writeHead(reply.status, headers)
  // Header and body leave as one text: where it is ASCII, Node need not look for characters that take more bytes.
  const encoding = bodyBytes === reply.body.length ? 'latin1' : 'utf8'
  if (endsEarly(res)) {
    // Where no body is to be, Node writes nothing, the header neither.
    if (bodyBytes === 0 || res.req.method === 'HEAD') res.flushHeaders()
    else res.write(reply.body, encoding)
    endLingering(res)
  } else {
    res.end(reply.body, encoding)
  }
}
