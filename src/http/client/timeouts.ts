import type { UpstreamHead } from './response-head.ts'

/** The timeouts of a connection, in milliseconds. Each may be late by one tick. */
export interface ConnectionLimits {
  readonly connectTimeoutMs: number
  /** For the head of a response, after the request was sent. */
  readonly headersTimeoutMs: number
  /** For the next piece of a body, in either direction. */
  readonly bodyTimeoutMs: number
  /** From `startedAtMs` of a request to the end of its response, unless that is an event stream. */
  readonly totalTimeoutMs: number
  /** Whether event streams end at that time too. Left out: they do not. */
  readonly endsStreams?: boolean
  /** Between two requests. */
  readonly keepAliveMs: number
}

/** How often the shortest timeout is checked. */
const ticksPerWait = 4
const longestTickMs = 250
const shortestTickMs = 5

/** The interval of the timeout checks. */
export const tickMsOf = (limits: ConnectionLimits): number => {
  const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, totalTimeoutMs, keepAliveMs } = limits
  const shortestMs = Math.min(connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, totalTimeoutMs, keepAliveMs)
  return Math.max(shortestTickMs, Math.min(longestTickMs, shortestMs / ticksPerWait))
}

/**
 * How long a connection is kept after a response, in milliseconds; 0 or less: it is closed. The gateway closes a second
 * before the server would, so that no request is sent on a connection that is being closed.
 */
export const keepAliveOf = ({ keepsForSec }: UpstreamHead, { keepAliveMs }: ConnectionLimits): number =>
  keepsForSec === undefined ? keepAliveMs : Math.min(keepAliveMs, keepsForSec * 1000 - 1000)

/** Whether a response is an event stream, which may stay open without end (HTML Living Standard, section 9.2). */
export const isEventStream = ({ fields }: UpstreamHead): boolean =>
  fields.some(
    (name, index) =>
      index % 2 === 0 &&
      name.toLowerCase() === 'content-type' &&
      /^text\/event-stream *(?:;|$)/i.test(fields[index + 1] ?? ''),
  )
