import type { Server } from 'node:http'
import { answerUnderWay } from './answer-under-way.ts'
import { connectionList } from './connection-list.ts'
import { endInTurn } from './end-in-turn.ts'
import type { Newcomers } from './newcomers.ts'

const roomEveryMs = 1000

/**
 * Where there is no room for another connection, those go that have none of a request: whoever keeps one opens another when
 * it needs it. Once a second at most, since all have to be looked through.
 * @param onEnd told of each that has ended
 */
export const makeRoom = (server: Server, newcomers: Newcomers, onEnd: () => void): (() => void) => {
  let madeAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (nowMs - madeAtMs < roomEveryMs) return
    madeAtMs = nowMs
    newcomers.makeRoom(onEnd)
    // Node ends all at once: where there is no other way, so be it.
    const idle = connectionList(server)?.idle()
    if (idle === undefined) server.closeIdleConnections()
    else for (const { socket } of idle) if (socket && !answerUnderWay(socket)) endInTurn(socket, 'idle', onEnd)
  }
}
