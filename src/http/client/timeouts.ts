import type { UpstreamHead } from './response-head.ts'

/** Longest waits of a connection, in milliseconds; each may be late by one tick. */
export interface ConnectionLimits {
  readonly connectTimeoutMs: number
  /** For the head of an answer, once the request is sent. */
  readonly headersTimeoutMs: number
  /** For the next piece of a body, whoever should send or take it. */
  readonly bodyTimeoutMs: number
  /** From `startedAtMs` of a request to the end of its answer, unless that is an event stream. */
  readonly totalTimeoutMs: number
  /** Whether event streams end at that time too. Left out: they do not. */
  readonly endsStreams?: boolean
  /** Between two requests. */
  readonly keepAliveMs: number
}

/** Of the shortest wait: how late the end of one may be seen. */
const ticksPerWait = 4
const longestTickMs = 250
const shortestTickMs = 5

/** How often waits are looked at. */
export const tickMsOf = (limits: ConnectionLimits): number => {
  const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, totalTimeoutMs, keepAliveMs } = limits
  const shortestMs = Math.min(connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, totalTimeoutMs, keepAliveMs)
  return Math.max(shortestTickMs, Math.min(longestTickMs, shortestMs / ticksPerWait))
}

/**
 * How long a connection is kept after an answer, in milliseconds; 0 or less: not at all. We close first, a second before the
 * server would: no request should meet a connection that is just being closed.
 */
export const keepAliveOf = ({ keepsForSec }: UpstreamHead, { keepAliveMs }: ConnectionLimits): number =>
  keepsForSec === undefined ? keepAliveMs : Math.min(keepAliveMs, keepsForSec * 1000 - 1000)

/** Whether an answer is meant to have no end (HTML Living Standard, section 9.2). */
export const isEventStream = ({ fields }: UpstreamHead): boolean =>
  fields.some(
    (name, index) =>
      index % 2 === 0 &&
      name.toLowerCase() === 'content-type' &&
      /^text\/event-stream *(?:;|$)/i.test(fields[index + 1] ?? ''),
  )
