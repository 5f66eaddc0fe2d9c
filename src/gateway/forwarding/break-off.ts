import { answerUnderWay } from '../../http/answer-under-way.ts'
import type { Exchange } from '../exchange.ts'

/**
 * Ends an answer that cannot be completed so that it looks broken: what has been written still arrives, then the
 * connection closes short of the declared length or the last chunk. Where neither frames it only a reset shows it.
 */
export const breakOff = (exchange: Exchange, framed: boolean): void => {
  const { req, res } = exchange.context
  const { socket } = res
  if (socket === null) {
    // The answer to a request before it has to leave first.
    answerUnderWay(req.socket)?.once('finish', () => breakOff(exchange, framed))
    return
  }
  // Node hands what was written in this turn to the socket at its end.
  process.nextTick(() => (framed ? socket.destroySoon() : socket.resetAndDestroy()))
}
