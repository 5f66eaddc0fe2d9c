import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createRandom } from '../../support/random.ts'

/** Requests of every kind that could create metric series, pipelined over a few connections. */

/** The configuration that gets the requests: operations of every kind, with plans and limits that allow most. */
export const wildConfig = (upstream: string) => ({
  workers: 2,
  plans: { wide: { rate: '1000000/1second' }, narrow: { rate: '1/1hour' } },
  groupings,
  upstreams: { wild: { targets: [upstream] } },
  clients: [{ client_id: 'app', client_secret: 'app-secret', grant_types: ['client_credentials'], plan: 'wide' }],
  login: { failures: '1000000/1minute', starts: '1000000/1minute' },
})

const groupings = [
  {
    name: 'OAuth',
    version: '1.2.3',
    operations: [
      { method: 'POST', path: '/token', serves: 'token' },
      { method: 'POST', path: '/introspect', serves: 'introspect' },
      { method: 'GET', path: '/authorize', serves: 'authorize' },
      { method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' },
    ],
  },
  {
    name: 'Open',
    upstream: 'wild',
    operations: [
      { method: 'GET', path: '/open/**', credentials: 'none' },
      { method: 'POST', path: '/any/**', credentials: 'none' },
      { method: 'DELETE', path: '/any/**', credentials: 'none' },
    ],
  },
  { name: 'Closed', upstream: 'wild', operations: [{ method: 'GET', path: '/closed/**' }] },
]

/** Answers with the status at the end of the path, 100 to 999; an interim response is followed by 200. */
export const startWildUpstream = async (): Promise<{ readonly url: string; close(): void }> => {
  const server = createServer(socket => {
    let waiting = ''
    socket.on('error', () => socket.destroy())
    socket.on('data', bytes => {
      const heads = (waiting + bytes.toString('latin1')).split('\r\n\r\n')
      waiting = heads.pop() ?? ''
      for (const head of heads) socket.write(answerTo(head))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

const answerTo = (head: string): string => {
  const status = Number(/^\S+ \S*?(\d{3})(?:\?\S*)? /.exec(head)?.[1] ?? 200)
  const interim = status < 200 && status !== 101 ? `HTTP/1.1 ${status} Wild\r\n\r\n` : ''
  const final = interim === '' ? status : 200
  const length = final === 204 || final === 304 || final === 101 ? '' : 'Content-Length: 0\r\n'
  return `${interim}HTTP/1.1 ${final} Wild\r\n${length}\r\n`
}

/** The bytes of one request; `ends` means that the gateway closes, or may close, the connection because of it. */
interface WildRequest {
  readonly text: string
  readonly ends: boolean
}

const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
/** Methods that the parser accepts and no operation has. */
const otherMethods = ['PROPFIND', 'SEARCH', 'UNLOCK', 'LINK', 'REPORT', 'QUERY', 'TRACE']

/** @param seed the same seed gives the same requests */
const createWildRequests = (seed: number): (() => WildRequest) => {
  const random = createRandom(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const word = (): string => below(2 ** 31).toString(36)
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const basic = (): string => `Authorization: Basic ${btoa(`${word()}:${word()}`)}\r\n`
  const write = (line: string, fields = '', body = ''): WildRequest => ({
    text: `${line} HTTP/1.1\r\nHost: ${word()}.example\r\nUser-Agent: ${word()}\r\nX-Request-Id: ${word()}\r\n${fields}${
      body === '' ? '' : `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n`
    }\r\n${body}`,
    ends: false,
  })
  const kinds: readonly (() => WildRequest)[] = [
    () => write(`${oneOf(knownMethods)} /${word()}/${word()}?${word()}=${word()}`),
    () => write(`${oneOf(otherMethods)} /${oneOf(['open', 'any', 'token', word()])}/${word()}`),
    () => write(`GET /open/${word()}/${100 + below(900)}?${word()}`),
    () => write(`${oneOf(['GET', 'HEAD'])} /open/${word()}/${200 + below(400)}`),
    () => write(`${oneOf(knownMethods)} /any/${word()}/${200 + below(400)}`),
    () => write(`GET /closed/${word()}`, `Authorization: Bearer ${word()}.${word()}.${word()}\r\n`),
    () => write(`${oneOf(knownMethods)} /token`),
    () => write('POST /token', basic(), `grant_type=${word()}&scope=${word()}`),
    () => write('POST /introspect', basic(), `token=${word()}`),
    () => write(`GET /metadata?client_id=${word()}&client_secret=${word()}`),
    () => write(`GET /authorize?client_id=${word()}&response_type=${word()}`),
    () => ({ ...write(`${word().toUpperCase().replace(/\d/g, 'Z')} /${word()}`), ends: true }),
  ]
  // An unknown method closes its connection, so only a few requests have one.
  return () => (kinds[below(random() < 0.01 ? kinds.length : kinds.length - 1)] as () => WildRequest)()
}

const requestsPerConnection = 250

/** Sends `count` requests on eight connections at a time, and resolves when all of them have been answered. */
export const sendWildRequests = async (origin: string, count: number, seed = 1): Promise<void> => {
  const next = createWildRequests(seed)
  let left = count
  const takeBatch = (): string => {
    let text = ''
    for (let size = 0; size < requestsPerConnection && left > 0; size++) {
      const request = next()
      text += request.text
      left--
      if (request.ends) return text
    }
    return text
  }
  const work = async (): Promise<void> => {
    while (left > 0) await exchange(origin, takeBatch())
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

/** The last request of a batch closes the connection, so the end of the connection follows the last answer. */
const exchange = async (origin: string, batch: string): Promise<void> => {
  const { hostname, port } = new URL(origin)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => socket.destroy())
  socket.resume()
  socket.write(`${batch}GET /last HTTP/1.1\r\nHost: last\r\nConnection: close\r\n\r\n`, 'latin1')
  await once(socket, 'close')
}
