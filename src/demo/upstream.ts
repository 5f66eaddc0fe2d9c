import { createServer } from 'node:http'

/**
 * A small accounts service, so that the first `npm start` has an API to protect. Its responses contain the request as
 * it arrived, to show what the gateway adds. It runs as a process of its own, as a service beside a sidecar does.
 */
const accounts = [
  { id: 'a-1', iban: 'DE89370400440532013000', currency: 'EUR', balance: '1520.40' },
  { id: 'a-2', iban: 'DE02120300000000202051', currency: 'EUR', balance: '87.13' },
]

const server = createServer((req, res) => {
  const path = new URL(req.url ?? '/', 'http://accounts').pathname
  const caller = Object.entries(req.headers).filter(
    ([name]) => name.startsWith('x-sidegate-') || name === 'x-request-id',
  )
  const body = path.endsWith('/health') ? { status: 'ok' } : { accounts, path, caller: Object.fromEntries(caller) }
  req.resume()
  res.writeHead(200, { 'content-type': 'application/json' })
  res.end(`${JSON.stringify(body, null, 2)}\n`)
})

const { hostname, port } = new URL(process.argv[2] ?? 'http://127.0.0.1:9000')
server.once('error', (error: NodeJS.ErrnoException) => {
  process.send?.({ failed: error.code ?? error.message })
  process.exit(1)
})
server.listen(Number(port), hostname, () => process.send?.({ listening: true }))
// It exits together with the gateway that started it, even if the gateway is killed.
process.once('disconnect', () => process.exit(0))
// Ctrl-C reaches the whole process group; the gateway drains first and then ends this process.
if (process.connected) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
