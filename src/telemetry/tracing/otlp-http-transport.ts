import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { nodeHttp } from '../../node-http.ts'
import type { Secret } from '../../secret.ts'

export interface OtlpTransportOptions {
  /** Where spans are posted, path included. */
  readonly endpoint: URL
  /** What goes along, such as a key. */
  readonly headers: Readonly<Record<string, Secret>>
  /** Longest wait for an answer. Default 10_000. */
  readonly timeoutMs: number
}

/** What became of a delivery. */
export type Delivery =
  | { readonly kind: 'taken' }
  /** The same may be sent again: nobody answered, or whoever did has no room now. */
  | { readonly kind: 'again'; readonly reason: string }
  /** It will not be taken the next time either. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Whoever gathers the traces. */
export interface OtlpTransport {
  /** Never rejects. */
  post(body: string): Promise<Delivery>
  /** Ends what is under way. */
  close(): void
}

/** Posts JSON to one address (OTLP/HTTP), over one connection that is kept. */
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
          // What it says beside the status is of no use here, and must be read for the connection to go on.
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

/** OTLP/HTTP: those that may be tried again. */
const tryAgain: readonly number[] = [429, 502, 503, 504]

const toDelivery = (status: number): Delivery => {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  return { kind: tryAgain.includes(status) ? 'again' : 'refused', reason: `it answered ${status}` }
}

/** A code where there is one: messages of Node name addresses, and may repeat what was sent. */
const deliveryFailureOf = (error: NodeJS.ErrnoException): string =>
  error.name === 'AbortError' ? 'it did not answer in time' : (error.code ?? error.name)
