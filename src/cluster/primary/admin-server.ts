import { fieldLines } from '../../http/reply.ts'
import { createHttpServer } from '../../http/server/http-server.ts'
import type { HttpServerOptions } from '../../http/server/options.ts'
import type { Request } from '../../http/server/request.ts'
import type { Response } from '../../http/server/response.ts'
import { chooseFormat, type ExpositionFormat } from '../../telemetry/exposition-format.ts'
import { describeBindError } from '../supervisor/reuseport-sockets.ts'
import { createScrapeCache, type Exposition, type ScrapeCache } from './scrape-cache.ts'

/** The data of the admin port. Every method returns what the primary knows already. */
export interface AdminView {
  isReady(): boolean
  checks(): AdminChecks
  /** The exposition, after the workers that respond have reported. */
  metrics(format: ExpositionFormat): Promise<Exposition>
  version(): Readonly<Record<string, string>>
}

/** The lines of `/readyz?verbose`: a check and its result. */
export type AdminChecks = readonly (readonly [check: string, finding: string])[]

/** The admin server, listening. */
export interface Admin {
  /** e.g. `http://127.0.0.1:9090` */
  readonly url: string
  /** Closes every connection at once. */
  close(): void
}

/**
 * Serves health and metrics from the primary, so that a hanging worker cannot delay them; never on the traffic port.
 * @throws Error one line with the reason why it cannot listen
 */
export const startAdmin = async (host: string, port: number, view: AdminView): Promise<Admin> => {
  const scrapes = createScrapeCache(view.metrics)
  const server = createHttpServer(options, {
    request: (request, response) => answer(view, scrapes, request, response),
    refused: () => undefined,
    dropped: () => undefined,
  })
  const listener = server.createListener()
  await new Promise<void>((resolve, reject) => {
    listener.once('error', error => reject(new Error(`cannot listen on ${host}:${port} (admin): ${toReason(error)}`)))
    listener.listen(port, host, resolve)
  })
  const address = listener.address()
  const boundPort = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    close() {
      listener.close()
      server.closeAllConnections()
    },
  }
}

/** Probes and scrapers are few. If there are more connections than this, idle ones are closed. */
const options: HttpServerOptions = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  // Longer than Prometheus's scrape interval, a minute by default.
  keepAliveTimeoutMs: 75_000,
  sendTimeoutMs: 10_000,
  maxHeaderBytes: 16_384,
  maxHeaderFields: 100,
  maxConnections: 1000,
}

const toReason = ({ code, message }: NodeJS.ErrnoException): string =>
  code === undefined ? message : describeBindError(code)

interface AdminAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Names and values alternately. */
  readonly headers?: readonly string[]
}

const answer = (view: AdminView, scrapes: ScrapeCache, request: Request, response: Response): void => {
  const { method, target, fields } = request.head
  const [path = '', query] = target.split('?', 2)
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && path === '/metrics') scrapes.answer(chooseFormat(fields.accept), response)
  else write(response, isRead ? answerTo(view, path, query) : methodNotAllowed)
}

const methodNotAllowed: AdminAnswer = {
  status: 405,
  contentType: 'text/plain',
  body: 'method not allowed\n',
  headers: ['allow', 'GET, HEAD'],
}

const answerTo = (view: AdminView, path: string, query: string | undefined): AdminAnswer => {
  switch (path) {
    case '/livez':
      return { status: 200, contentType: 'text/plain', body: 'ok\n' }
    case '/readyz': {
      const body = readiness(view, new URLSearchParams(query).has('verbose'))
      return { status: view.isReady() ? 200 : 503, contentType: 'text/plain', body }
    }
    case '/version':
      return { status: 200, contentType: 'application/json', body: `${JSON.stringify(view.version())}\n` }
    default:
      return { status: 404, contentType: 'text/plain', body: 'not found: /livez, /readyz, /metrics, /version\n' }
  }
}

const readiness = (view: AdminView, verbose: boolean): string => {
  const verdict = view.isReady() ? 'ok' : 'not ready'
  if (!verbose) return `${verdict}\n`
  const lines = view.checks().map(([check, finding]) => `${check}: ${finding}`)
  return `${[...lines, verdict].join('\n')}\n`
}

const write = (response: Response, { status, contentType, body, headers = [] }: AdminAnswer): void => {
  const bytes = Buffer.from(body)
  const lines = fieldLines(['content-type', contentType, 'cache-control', 'no-store', ...headers])
  response.writeHead({ status, lines, length: String(bytes.length), hasDate: false })
  response.endWith(bytes)
}
