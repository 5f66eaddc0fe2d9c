import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyServer } from 'http-proxy'
import { clientGone, type Exchange, type Outcome, type Step } from './exchange.ts'
import { upstreamPath } from './forward.ts'
import { outgoingHeaders } from './outgoing-headers.ts'
import { refuse } from './refusal.ts'
import type { Upstream } from './upstreams.ts'

export interface WebSocketDeps {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Called once the connection has ended or failed; 101 if it was open. */
  finish(exchange: Exchange, status: number): void
  /** Writes a refusal where no answer had begun. */
  reply(exchange: Exchange, outcome: Outcome): void
}

/** Passes a WebSocket handshake upstream and joins the two sockets; `http-proxy`'s `ws`, whose `web` is never called. */
export const forwardUpgrade = (deps: WebSocketDeps): Step => {
  const proxy = new ProxyServer({ changeOrigin: true, xfwd: false })
  const exchanges = new WeakMap<IncomingMessage, Exchange>()
  proxy.on('proxyReqWs', (proxyReq: ClientRequest, req: IncomingMessage) => {
    const exchange = exchanges.get(req)
    if (exchange) watchAnswer(proxyReq, exchange)
  })
  return exchange => {
    const { operation, upgrade, context } = exchange
    const upstream = operation?.target.kind === 'forward' ? deps.upstreams.get(operation.target.upstream) : undefined
    if (operation === undefined || upstream === undefined || upgrade === undefined) return refuse(exchange, 'INTERNAL')
    const { req, res } = context
    const path = upstreamPath(exchange, operation)
    const headers = upgradeHeaders(exchange, outgoingHeaders(exchange, operation))
    exchanges.set(req, exchange)
    req.url = path
    req.headers = headers
    res.detachSocket(upgrade.socket as Socket)
    upgrade.socket.once('close', () => deps.finish(exchange, exchange.upgraded ? 101 : clientGone))
    proxy.ws(req, upgrade.socket as Socket, upgrade.head, { target: upstream.next().origin }, () => {
      if (exchange.upgraded || exchange.finished) return
      upstream.failed('connect')
      res.assignSocket(upgrade.socket as Socket)
      res.shouldKeepAlive = false
      deps.reply(exchange, refuse(exchange, 'UPSTREAM_UNREACHABLE'))
    })
    return 'taken'
  }
}

/** As an object, since that is what `http-proxy` reads; the handshake's own fields are put back (RFC 6455 section 4.1). */
const upgradeHeaders = (exchange: Exchange, fields: readonly string[]): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase()
    const before = headers[name]
    const separator = name === 'cookie' ? '; ' : ', '
    headers[name] = before === undefined ? (fields[i + 1] as string) : before + separator + fields[i + 1]
  }
  return { ...headers, host: exchange.context.fields.host ?? '', connection: 'Upgrade', upgrade: 'websocket' }
}

/** Puts the request id and the plan's fields on the 101; breaks the client off where a refusal breaks off. */
const watchAnswer = (proxyReq: ClientRequest, exchange: Exchange): void => {
  const { upgrade, context } = exchange
  proxyReq.prependListener('upgrade', (answer: IncomingMessage) => {
    exchange.upgraded = true
    answer.headers['x-request-id'] = context.id
    for (let i = 0; i + 1 < exchange.rateLimit.length; i += 2) {
      answer.headers[exchange.rateLimit[i] as string] = exchange.rateLimit[i + 1]
    }
  })
  proxyReq.prependListener('response', (answer: IncomingMessage) => {
    answer.headers['x-request-id'] = context.id
    answer.once('close', () => {
      if (!answer.complete) upgrade?.socket.destroy()
    })
  })
}
