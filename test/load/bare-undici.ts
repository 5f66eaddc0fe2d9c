/**
 * A forwarder around `undici`, with connections kept open and nothing else: the fastest that a Node user would write. A
 * program of its own. Usage: node bare-undici.ts PORT UPSTREAM
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Dispatcher, Pool } from 'undici'

const [port, target] = process.argv.slice(2)
if (port === undefined || target === undefined) throw new TypeError('usage: node bare-undici.ts PORT UPSTREAM')

const pool = new Pool(target)

const forward = (request: IncomingMessage, response: ServerResponse): void => {
  const options: Dispatcher.DispatchOptions = {
    method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
    path: request.url ?? '/',
    headers: withoutHost(request.rawHeaders),
    body: request.method === 'GET' || request.method === 'HEAD' ? null : request,
    blocking: false,
  }
  pool.dispatch(options, {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, status, headers) => {
      const { connection: _, 'transfer-encoding': __, ...passed } = headers
      response.writeHead(status, passed)
    },
    onResponseData: (controller, chunk) => {
      if (response.write(chunk)) return
      controller.pause()
      response.once('drain', () => controller.resume())
    },
    onResponseEnd: () => response.end(),
    onResponseError: () => void response.destroy(),
  })
}

const withoutHost = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, place) => !/^(host|connection)$/i.test(rawHeaders[place - (place % 2)] ?? ''))

createServer(forward).listen(Number(port), '127.0.0.1')
