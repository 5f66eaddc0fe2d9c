import type { Server, TLSSocket } from 'node:tls'
import { answerUnderWay } from './answer-under-way.ts'

/** The connections of one HTTPS server whose clients showed a certificate. */
export interface CertificateHolders {
  /** Ends them: what was proven at the handshake is not to be believed any longer. What is being answered is answered. */
  end(): void
}

/** Follows a server from here on. What has become a WebSocket is no connection of requests any more, and left alone. */
export const followCertificateHolders = (server: Server): CertificateHolders => {
  const holders = new Set<TLSSocket>()
  server.on('secureConnection', socket => {
    if (!socket.getPeerX509Certificate()) return
    holders.add(socket)
    socket.once('close', () => holders.delete(socket))
  })
  server.on('upgrade', (_req: unknown, socket: TLSSocket) => void holders.delete(socket))
  return {
    end() {
      for (const socket of holders) endAfterAnswer(socket)
    },
  }
}

const endAfterAnswer = (socket: TLSSocket): void => {
  const answer = answerUnderWay(socket)
  if (!answer) return void socket.destroy()
  if (answer.headersSent) answer.once('finish', () => socket.destroySoon())
  else answer.shouldKeepAlive = false
}
