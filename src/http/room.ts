import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { answerUnderWay } from './answer-under-way.ts'
import { endInTurn } from './end-in-turn.ts'

const roomEveryMs = 1000

/**
 * Where there is no room for another connection, those go that have none of a request: whoever keeps one opens another when
 * it needs it. Once a second at most, since all have to be looked through.
 */
export const makeRoom = (server: Server): (() => void) => {
  let madeAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (nowMs - madeAtMs < roomEveryMs) return
    madeAtMs = nowMs
    const idle = idleConnections(server)
    if (idle === undefined) server.closeIdleConnections()
    else for (const { socket } of idle) if (socket && answerUnderWay(socket) === undefined) endInTurn(socket)
  }
}

/**
 * Those that are reading no request, as `closeIdleConnections` finds them. It ends all at once, and there is no public name for the
 * list; where Node keeps it under another one, so be it.
 */
const idleConnections = (server: Server): readonly Connection[] | undefined => {
  const name = Object.getOwnPropertySymbols(server).find(({ description }) => description === 'http.server.connections')
  return name && (server as unknown as Readonly<Record<symbol, Partial<Connections>>>)[name]?.idle?.()
}

interface Connections {
  idle(): readonly Connection[]
}

/** A parser of Node's. */
interface Connection {
  readonly socket?: Socket | null
}
