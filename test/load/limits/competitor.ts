/**
 * A gateway as a Node user would write it with `rate-limiter-flexible` by its documentation: workers of
 * `node:cluster`, each with the default script over one Redis, forward the requests that are let in. At SIGHUP it
 * reads the limit again. At SIGTERM it serves on for as long as a load balancer needs to notice. A program of its
 * own.
 * Usage: node competitor.ts PORT WORKERS UPSTREAM REDIS-OPTIONS-AS-JSON LIMIT-FILE
 */
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { plan } from './plan.ts'

const [port, workers, upstream, redisOptions, limitFile] = process.argv.slice(2)
if (!port || !workers || !upstream || !redisOptions || !limitFile) {
  throw new TypeError('usage: node competitor.ts PORT WORKERS UPSTREAM REDIS-OPTIONS-AS-JSON LIMIT-FILE')
}

/** In milliseconds. */
const noticeMs = 1000

const readLimit = (): number => Number(readFileSync(limitFile, 'utf8'))

const lead = (): void => {
  for (let i = 0; i < Number(workers); i++) cluster.fork()
  cluster.on('exit', () => cluster.fork())
  process.on('SIGHUP', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.send('reload')
  })
  process.once('SIGTERM', () => setTimeout(() => process.exit(0), noticeMs))
}

const serve = (): void => {
  const storeClient = new Redis({ ...JSON.parse(redisOptions), enableOfflineQueue: false })
  storeClient.on('error', () => undefined)
  const limiter = new RateLimiterRedis({ storeClient, points: readLimit(), duration: plan.windowMs / 1000 })
  process.on('message', () => {
    limiter.points = readLimit()
  })
  const agent = new Agent({ keepAlive: true })

  const forward = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const onward = request(new URL(incoming.url ?? '/', upstream), { agent }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.writeHead(502).end()).end()
  }
  const server = createServer(async (incoming, outgoing) => {
    const client = nameOf(incoming.headers.authorization)
    if (client === undefined) return forward(incoming, outgoing)
    try {
      await limiter.consume(client)
    } catch (rejection) {
      // The package rejects with an Error where Redis fails, else with what is left.
      return void outgoing.writeHead(rejection instanceof Error ? 500 : 429).end()
    }
    forward(incoming, outgoing)
  })
  server.keepAliveTimeout = 60_000
  server.listen(Number(port), '127.0.0.1')
}

/** The user name of HTTP Basic; every name is a known client here. */
const nameOf = (authorization: string | undefined): string | undefined =>
  authorization && Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':')[0]

if (cluster.isPrimary) lead()
else serve()
