import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { nodeHttp } from '../../node-http.ts'
import type { Secret } from '../../secret.ts'

export interface OtlpTransportOptions {
  /** The URL that spans are posted to, path included. */
  readonly endpoint: URL
  /** Header fields of each request, such as an API key. */
  readonly headers: Readonly<Record<string, Secret>>
  /** Maximum wait for a response. Default 10_000. */
  readonly timeoutMs: number
}

/** The result of a delivery. */
export type Delivery =
  | { readonly kind: 'taken' }
  /** The same delivery may be sent again: no response came, or the collector is overloaded. */
  | { readonly kind: 'again'; readonly reason: string }
  /** The collector would refuse the same delivery again. */
  | { readonly kind: 'refused'; readonly reason: string }

/** The receiver of the traces. */
export interface OtlpTransport {
  /** Never rejects. */
  post(body: string): Promise<Delivery>
  /** Aborts the requests under way. */
  close(): void
}

/** Posts JSON to one URL (OTLP/HTTP), over one connection that is kept alive. */
export const createOtlpTransport = ({ endpoint, headers, timeoutMs }: OtlpTransportOptions): OtlpTransport => {
  const isSecure = endpoint.protocol === 'https:'
  const agent = isSecure ? new HttpsAgent(oneConnection) : new (nodeHttp().Agent)(oneConnection)
  const send = isSecure ? requestHttps : nodeHttp().request
  const revealed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]))
  const closing = new AbortController()
  return {
    post: body =>
      new Promise(resolve => {
        const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
        const fields = { 'user-agent': 'sidegate', ...revealed, 'content-type': 'application/json' }
        const req = send(endpoint, { method: 'POST', agent, signal, headers: fields })
        req.on('error', error => resolve({ kind: 'again', reason: deliveryFailureOf(error) }))
        req.on('response', answer => {
          answer.on('error', () => undefined)
          // The body is not used, but it must be read so that the connection can be reused.
          answer.resume()
          resolve(toDelivery(answer.statusCode ?? 0))
        })
        req.end(body)
      }),
    close() {
      closing.abort()
      agent.destroy()
    },
  }
}

const oneConnection = { keepAlive: true, maxSockets: 1 }

/** OTLP/HTTP: the statuses after which a delivery may be sent again. */
const tryAgain: readonly number[] = [429, 502, 503, 504]

const toDelivery = (status: number): Delivery => {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  return { kind: tryAgain.includes(status) ? 'again' : 'refused', reason: `it answered ${status}` }
}

/** The error code if there is one: messages of Node contain addresses, and may repeat the request. */
const deliveryFailureOf = (error: NodeJS.ErrnoException): string =>
  error.name === 'AbortError' ? 'it did not answer in time' : (error.code ?? error.name)
