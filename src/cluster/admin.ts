import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeHttp } from '../node-http.ts'
import { chooseFormat, type ExpositionFormat } from '../telemetry/exposition-format.ts'

/** What the admin port tells; every method answers from what the primary has at hand. */
export interface AdminView {
  isReady(): boolean
  checks(): AdminChecks
  /** The exposition, once the workers that can have reported. */
  metrics(format: ExpositionFormat): Promise<{ readonly contentType: string; readonly body: string }>
  version(): Readonly<Record<string, string>>
}

/** Lines of `/readyz?verbose`: a check and what it found. */
export type AdminChecks = readonly (readonly [check: string, finding: string])[]

/** The admin port, open. */
export interface Admin {
  /** e.g. `http://127.0.0.1:9090` */
  readonly url: string
  /** Ends every connection at once. */
  close(): void
}

/**
 * Health and metrics, served by the primary so that a hanging worker cannot hold them up; never on the traffic port.
 * @throws Error one line that says why it cannot listen
 */
export const startAdmin = async (host: string, port: number, view: AdminView): Promise<Admin> => {
  const server = nodeHttp.createServer((req, res) => void answer(view, req, res))
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(new Error(`cannot listen on ${host}:${port} (admin): ${explain(error)}`)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const boundPort = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const explain = (error: NodeJS.ErrnoException): string =>
  error.code === 'EADDRINUSE' ? 'the port is taken by another program' : (error.code ?? error.message)

const answer = async (view: AdminView, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const [path, query] = (req.url ?? '/').split('?', 2)
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return end(res, 405, 'text/plain', 'method not allowed\n', ['allow', 'GET, HEAD'])
  switch (path) {
    case '/livez':
      return end(res, 200, 'text/plain', 'ok\n')
    case '/readyz':
      return end(
        res,
        view.isReady() ? 200 : 503,
        'text/plain',
        readiness(view, new URLSearchParams(query).has('verbose')),
      )
    case '/metrics': {
      const { contentType, body } = await view.metrics(chooseFormat(req.headers.accept))
      return end(res, 200, contentType, body)
    }
    case '/version':
      return end(res, 200, 'application/json', `${JSON.stringify(view.version())}\n`)
    default:
      return end(res, 404, 'text/plain', 'not found: /livez, /readyz, /metrics, /version\n')
  }
}

const readiness = (view: AdminView, verbose: boolean): string => {
  const verdict = view.isReady() ? 'ok' : 'not ready'
  if (!verbose) return `${verdict}\n`
  const lines = view.checks().map(([check, finding]) => `${check}: ${finding}`)
  return `${[...lines, verdict].join('\n')}\n`
}

const end = (
  res: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  headers: readonly string[] = [],
): void => {
  res.writeHead(status, [
    'content-type',
    contentType,
    'cache-control',
    'no-store',
    'content-length',
    String(Buffer.byteLength(body)),
    ...headers,
  ])
  res.end(body)
}
