import type { AuthorizationServer } from '../../oauth/index.ts'
import type { Exchange } from '../exchange.ts'
import { type CloseCode, closeCodes } from './websocket-frames.ts'

/** A WebSocket or an event stream, which may stay open without end. */
export interface LongLivedStream {
  readonly isGone: boolean
  /** For how long no byte has been received or sent. @param nowMs of a monotonic clock */
  silentForMs(nowMs: number): number
  /** Ends the stream as gracefully as its protocol allows. A second call changes nothing. */
  close(code: CloseCode, reason: string): void
}

/** How long a stream may stay open. */
export interface StreamTerms {
  /** Longest time without a byte in either direction. */
  readonly idleTimeoutMs: number
  /**
   * Whether the token that opened the stream has expired or was revoked; called every few seconds. Undefined: the
   * stream needs no token. If the call fails, the stream stays open.
   */
  readonly isTokenExpiredOrRevoked: (() => boolean | Promise<boolean>) | undefined
}

/** The long-lived streams that are open in this process. Each is closed gracefully when its time is over. */
export interface StreamRegistry {
  add(stream: LongLivedStream, terms: StreamTerms): void
  /** Closes all streams, and those that are added from now on: the process is about to stop. */
  closeAll(): void
}

interface Watched {
  readonly terms: StreamTerms
  /** Of a monotonic clock. */
  nextTokenCheckAtMs: number
}

/** Longest delay after which an idle timeout is noticed. */
const tickMs = 250
/**
 * Longest delay after which an expired token is noticed. Every process learns of a revocation within another second.
 */
const tokenCheckEveryMs = 1000

export const createStreamRegistry = (): StreamRegistry => {
  const open = new Map<LongLivedStream, Watched>()
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  const tick = (): void => {
    const nowMs = performance.now()
    for (const [stream, watched] of open) {
      if (stream.isGone) open.delete(stream)
      else look(stream, watched, nowMs)
    }
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    add(stream, terms) {
      open.set(stream, { terms, nextTokenCheckAtMs: performance.now() + tokenCheckEveryMs })
      timer ??= setInterval(tick, tickMs).unref()
      if (isStopping) closeGoingAway(stream)
    },
    closeAll() {
      isStopping = true
      for (const stream of open.keys()) closeGoingAway(stream)
    },
  }
}

/** The check whether the token of a request has expired or was revoked. Undefined if the request has no token. */
export const tokenCheckOf = (
  { caller, context }: Exchange,
  isTokenExpiredOrRevoked: AuthorizationServer['isTokenExpiredOrRevoked'],
): StreamTerms['isTokenExpiredOrRevoked'] => {
  if (caller?.kind !== 'token') return undefined
  const [line = ''] = context.fields.authorization
  const text = line.slice(line.indexOf(' ')).trim()
  return () => isTokenExpiredOrRevoked(text, caller.token)
}

const closeGoingAway = (stream: LongLivedStream): void =>
  stream.close(closeCodes.goingAway, 'the gateway is shutting down')

const look = (stream: LongLivedStream, watched: Watched, nowMs: number): void => {
  const { terms } = watched
  if (stream.silentForMs(nowMs) >= terms.idleTimeoutMs) stream.close(closeCodes.goingAway, 'idle for too long')
  if (terms.isTokenExpiredOrRevoked === undefined || nowMs < watched.nextTokenCheckAtMs) return
  watched.nextTokenCheckAtMs = nowMs + tokenCheckEveryMs
  void closeIfTokenEnded(stream, terms.isTokenExpiredOrRevoked)
}

const closeIfTokenEnded = async (
  stream: LongLivedStream,
  isTokenExpiredOrRevoked: () => boolean | Promise<boolean>,
): Promise<void> => {
  try {
    if (await isTokenExpiredOrRevoked())
      stream.close(closeCodes.policyViolation, 'the token has expired or was revoked')
  } catch {
    // The store is unavailable: the next check asks it again.
  }
}
