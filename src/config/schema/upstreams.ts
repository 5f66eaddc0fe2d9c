import { z } from 'zod'
import { checkedText, count, durationMs, flag, name, text, textLike } from '../values/zod-scalars.ts'

const targetFault = (text: string): string | undefined => {
  if (/^unix:\/[^\0]+$/.test(text)) return undefined
  const isOrigin = /^https?:\/\/[^/?#@]+\/?$/i.test(text) && URL.canParse(text)
  return isOrigin
    ? undefined
    : 'must be an http or https origin without path, such as http://127.0.0.1:9000, or unix: and the full path of a socket'
}

/** Only the file's name is kept, because the file is read again whenever it changes. */
const tlsFile = (what: string) => text().min(1, { error: 'must name a file' }).optional().describe(`PEM file: ${what}.`)

const tlsSchema = z
  .strictObject({
    ca_file: tlsFile('the CAs that verify the certificates of the targets. Default the public CAs'),
    cert_file: tlsFile('our certificate, for targets that require one'),
    key_file: tlsFile('its private key'),
    servername: textLike(/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'must be the name of a host')
      .optional()
      .describe("The name in the targets' certificates. Default the host of each target."),
  })
  .optional()
  .describe('TLS to https targets, whose certificates are always verified. The files are read again when they change.')

const healthSchema = z
  .strictObject({
    path: textLike(/^\/[\x21-\x7e]{0,1023}$/, 'must be a path, such as /healthz').describe(
      'The path of the health check (GET); a status from 200 to 399 is a success.',
    ),
    interval: durationMs(1).prefault('10s').describe('Interval between two checks by one worker. Default 10s.'),
    timeout: durationMs(1).prefault('2s').describe('Longest time for a check. Default 2s.'),
    healthy: count(1, 1_000)
      .default(2)
      .describe('Successes in a row after which an endpoint is healthy again. Default 2.'),
    unhealthy: count(1, 1_000).default(3).describe('Failures in a row after which it is unhealthy. Default 3.'),
  })
  .optional()
  .describe('Active health checks of every endpoint. Default none.')

const outlierDetectionSchema = z
  .strictObject({
    failures: count(0, 1_000)
      .default(5)
      .describe(
        'Failures or 5xx responses in a row after which an endpoint gets no requests for a while; 0: never. Default 5.',
      ),
    baseEjectionTime: durationMs(1)
      .prefault('10s')
      .describe('How long the first time; twice as long each time it fails again at once. Default 10s.'),
    maxEjectionTime: durationMs(1).prefault('5m').describe('How long at most. Default 5m.'),
    maxEjectionPercent: count(1, 100)
      .default(50)
      .describe('Maximum share of the endpoints at a time, in percent; never the last one. Default 50.'),
  })
  .prefault({})
  .describe('Outlier detection: endpoints that fail get no requests for a while.')

export const upstreamSchema = z.strictObject({
  targets: z
    .array(checkedText(targetFault))
    .min(1, { error: 'needs at least one target, such as http://127.0.0.1:9000' })
    .describe('The servers: origins, or sockets such as unix:/run/service.sock.'),
  dnsInterval: durationMs(1)
    .prefault('10s')
    .describe('How often the names of targets are resolved; each address is an endpoint. Default 10s.'),
  connectTimeout: durationMs(1).prefault('5s').describe('Longest wait for a connection. Default 5s.'),
  headersTimeout: durationMs(1).prefault('30s').describe('Longest wait for the response header. Default 30s.'),
  bodyTimeout: durationMs(1)
    .prefault('5m')
    .describe('Longest wait for the next part of a request or response body to be sent or received. Default 5m.'),
  totalTimeout: durationMs(1)
    .prefault('1h')
    .describe('Longest time for a whole round trip, except WebSockets and event streams. Default 1h.'),
  webSocketIdleTimeout: durationMs(1)
    .prefault('5m')
    .describe('Longest time without data in a WebSocket, then it is closed with 1001. Default 5m.'),
  webSocketsOutliveTokens: flag()
    .default(false)
    .describe(
      'Whether a WebSocket stays open when the token that opened it expires or is revoked; else it is closed with 1008. Default false.',
    ),
  eventStreamsOutliveTokens: flag()
    .default(false)
    .describe(
      'Whether an event stream continues when the token of its request expires or is revoked; else it is aborted. Default false.',
    ),
  maxInFlight: count(1, 1_000_000)
    .optional()
    .describe('Maximum number of requests and WebSockets at a time; each worker has its share. Default no limit.'),
  maxQueue: count(0, 100_000)
    .default(100)
    .describe(
      'Maximum number of requests that wait for a free place, then 503; each worker has its share. Default 100.',
    ),
  queueTimeout: durationMs(1).prefault('1s').describe('Longest wait for a free place, then 503. Default 1s.'),
  retryBudgetPercent: count(0, 100)
    .default(20)
    .describe('Maximum number of retries, in percent of the requests, but at least 3 a second; 0: none. Default 20.'),
  outlierDetection: outlierDetectionSchema,
  health: healthSchema,
  tls: tlsSchema,
})

export const upstreamsSchema = z
  .record(name(), upstreamSchema)
  .default({})
  .describe('The servers that operations are forwarded to, by name.')
