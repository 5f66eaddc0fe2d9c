import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { GatewayErrorCode } from '../../../src/errors.ts'
import { createHttpServer, type HttpServer } from '../../../src/http/server/http-server.ts'
import { type DropReason, defaultHttpServerOptions, type HttpServerOptions } from '../../../src/http/server/options.ts'
import type { Request } from '../../../src/http/server/request.ts'
import type { Response } from '../../../src/http/server/response.ts'
import type { HandshakeSource } from '../../../src/http/server/tls-acceptor.ts'

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export type Answer = (request: Request, response: Response) => void

export interface RunningHttpServer {
  readonly server: HttpServer
  readonly url: string
  /** Codes with which the server itself refused requests, in order. */
  readonly refusals: readonly GatewayErrorCode[]
  /** Why connections were dropped, in order. */
  readonly drops: readonly DropReason[]
  /** Every request that was handed over, in order. */
  readonly requests: readonly Request[]
}

/** A plain HTTP server whose requests go to `answer`; it closes when the test ends. */
export const startHttpServer = async (
  t: Teardown,
  answer: Answer,
  changes: Partial<HttpServerOptions> = {},
  tls?: HandshakeSource,
): Promise<RunningHttpServer> => {
  const refusals: GatewayErrorCode[] = []
  const drops: DropReason[] = []
  const requests: Request[] = []
  const server = createHttpServer(
    { ...defaultHttpServerOptions, ...changes },
    {
      request: (request, response) => {
        requests.push(request)
        answer(request, response)
      },
      refused: code => refusals.push(code),
      dropped: reason => drops.push(reason),
    },
    tls,
  )
  return { server, url: await listenOn(t, server, server.createListener()), refusals, drops, requests }
}

/** The same over TLS with one certificate. */
export const startTlsHttpServer = async (
  t: Teardown,
  answer: Answer,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<RunningHttpServer> => {
  const tls = { serverOptions: { cert, key }, attach: () => undefined, onClientCaChange: undefined }
  const running = await startHttpServer(t, answer, {}, tls)
  return { ...running, url: running.url.replace('http', 'https') }
}

/** Has one more listener of the server listen. @returns its origin */
export const listenOn = async (t: Teardown, server: HttpServer, listener: Server): Promise<string> => {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => {
    listener.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
}

/** The bytes of a request without a body, or of the head of one that has a body. */
export const head = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

/** Writes a whole response with a declared length. */
export const reply = (response: Response, body = '', status = 200): void => {
  response.writeHead({ status, lines: '', length: String(body.length), hasDate: false })
  response.end(body)
}

/** Calls `onBody` with the request's body as latin1 once all of it has come. */
export const collectBody = ({ body }: Request, onBody: (text: string) => void): void => {
  let text = ''
  if (body === undefined) onBody(text)
  body?.read({
    onData: piece => {
      text += piece.toString('latin1')
    },
    onEnd: () => onBody(text),
  })
}

export const switchingProtocols =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
