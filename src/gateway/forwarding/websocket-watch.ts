import type { AuthorizationServer } from '../../oauth/index.ts'
import type { Exchange } from '../exchange.ts'
import { closeCodes } from './websocket-frames.ts'
import type { WebSocketRelay } from './websocket-relay.ts'

/** How long a WebSocket may stay open. */
export interface WebSocketTerms {
  /** Longest silence of both sides. */
  readonly idleTimeoutMs: number
  /**
   * Whether the token that opened it is good no more, asked every few seconds; undefined: it needs none. Where that cannot
   * be found out it stays open.
   */
  readonly hasTokenEnded: (() => boolean | Promise<boolean>) | undefined
}

/** The WebSockets that are open in this process, each closed in good order when its time has come. */
export interface WebSocketWatch {
  add(relay: WebSocketRelay, terms: WebSocketTerms): void
  /** Closes all, and those that open from now on: the process is about to stop. */
  closeAll(): void
}

interface Watched {
  readonly terms: WebSocketTerms
  /** By a monotonic clock. */
  nextTokenCheckAtMs: number
}

/** How late a silence that was too long is noticed at most. */
const tickMs = 250
/** How late an expired token is noticed; what was revoked is known to every process a second after it was. */
const tokenCheckEveryMs = 1000

export const createWebSocketWatch = (): WebSocketWatch => {
  const open = new Map<WebSocketRelay, Watched>()
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  const tick = (): void => {
    const nowMs = performance.now()
    for (const [relay, watched] of open) {
      if (relay.isGone) open.delete(relay)
      else look(relay, watched, nowMs)
    }
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    add(relay, terms) {
      open.set(relay, { terms, nextTokenCheckAtMs: performance.now() + tokenCheckEveryMs })
      timer ??= setInterval(tick, tickMs).unref()
      if (isStopping) closeGoingAway(relay)
    },
    closeAll() {
      isStopping = true
      for (const relay of open.keys()) closeGoingAway(relay)
    },
  }
}

/** How to ask whether the token of a handshake has ended; undefined where it came without one. */
export const tokenCheckOf = (
  { caller, context }: Exchange,
  hasTokenEnded: AuthorizationServer['hasTokenEnded'],
): WebSocketTerms['hasTokenEnded'] => {
  if (caller?.kind !== 'token') return undefined
  const [line = ''] = context.fields.authorization
  const text = line.slice(line.indexOf(' ')).trim()
  return () => hasTokenEnded(text, caller.token)
}

const closeGoingAway = (relay: WebSocketRelay): void =>
  relay.close(closeCodes.goingAway, 'the gateway is shutting down')

const look = (relay: WebSocketRelay, watched: Watched, nowMs: number): void => {
  const { terms } = watched
  if (relay.silentForMs(nowMs) >= terms.idleTimeoutMs) relay.close(closeCodes.goingAway, 'silent for too long')
  if (terms.hasTokenEnded === undefined || nowMs < watched.nextTokenCheckAtMs) return
  watched.nextTokenCheckAtMs = nowMs + tokenCheckEveryMs
  void closeWhereEnded(relay, terms.hasTokenEnded)
}

const closeWhereEnded = async (
  relay: WebSocketRelay,
  hasTokenEnded: () => boolean | Promise<boolean>,
): Promise<void> => {
  try {
    if (await hasTokenEnded()) relay.close(closeCodes.policyViolation, 'the token is good no more')
  } catch {
    // The store is away: what it would say is asked for again.
  }
}
