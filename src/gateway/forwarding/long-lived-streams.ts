import type { AuthorizationServer } from '../../oauth/index.ts'
import type { Exchange } from '../exchange.ts'
import { type CloseCode, closeCodes } from './websocket-frames.ts'

/** What has no end of its own: a WebSocket, an event stream. */
export interface LongLivedStream {
  readonly isGone: boolean
  /** For how long no byte has moved. @param nowMs of a monotonic clock */
  silentForMs(nowMs: number): number
  /** Ends it in the best order that it has. A second call changes nothing. */
  close(code: CloseCode, reason: string): void
}

/** How long it may stay open. */
export interface StreamTerms {
  /** Longest silence of both sides. */
  readonly idleTimeoutMs: number
  /**
   * Whether the token that opened it is good no more, asked every few seconds; undefined: it needs none. Where that cannot
   * be found out it stays open.
   */
  readonly isTokenExpiredOrRevoked: (() => boolean | Promise<boolean>) | undefined
}

/** What is open of that in this process, each closed in good order when its time has come. */
export interface StreamRegistry {
  add(stream: LongLivedStream, terms: StreamTerms): void
  /** Closes all, and those that open from now on: the process is about to stop. */
  closeAll(): void
}

interface Watched {
  readonly terms: StreamTerms
  /** By a monotonic clock. */
  nextTokenCheckAtMs: number
}

/** How late a silence that was too long is noticed at most. */
const tickMs = 250
/** How late an expired token is noticed; what was revoked is known to every process a second after it was. */
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

/** How to ask whether the token of a handshake has ended; undefined where it came without one. */
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
  if (stream.silentForMs(nowMs) >= terms.idleTimeoutMs) stream.close(closeCodes.goingAway, 'silent for too long')
  if (terms.isTokenExpiredOrRevoked === undefined || nowMs < watched.nextTokenCheckAtMs) return
  watched.nextTokenCheckAtMs = nowMs + tokenCheckEveryMs
  void closeWhereEnded(stream, terms.isTokenExpiredOrRevoked)
}

const closeWhereEnded = async (
  stream: LongLivedStream,
  isTokenExpiredOrRevoked: () => boolean | Promise<boolean>,
): Promise<void> => {
  try {
    if (await isTokenExpiredOrRevoked()) stream.close(closeCodes.policyViolation, 'the token is good no more')
  } catch {
    // The store is away: what it would say is asked for again.
  }
}
