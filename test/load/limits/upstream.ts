/**
 * The service behind both gateways: says in its answer when the request arrived. A program of its own, so that no busy
 * load generator delays what it says. Usage: node upstream.ts PORT
 */
import { createServer } from 'node:http'
import { arrivalField, nowMs } from './trace.ts'

const [port] = process.argv.slice(2)
if (port === undefined) throw new TypeError('usage: node upstream.ts PORT')

const server = createServer((_request, response) => {
  response.writeHead(200, { [arrivalField]: nowMs().toFixed(3), 'content-type': 'application/json' }).end('{}')
})
server.keepAliveTimeout = 60_000
server.listen(Number(port), '127.0.0.1')
