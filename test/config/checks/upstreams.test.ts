import t from 'tap'
import { holdsEach } from '../cases.ts'
import { acceptedConfig, forwarded, publishing } from '../support.ts'

/** A configuration whose upstream has these keys. */
const upstream = (keys: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  ...publishing(forwarded),
  upstreams: { items: { targets: ['http://127.0.0.1:9000'], ...keys } },
})

holdsEach(t, [
  {
    says: 'the path of a socket is absolute',
    refused: upstream({ targets: ['unix:run/service.sock'] }),
    message: /targets\[0\]: must be an http or https origin .* or unix: and the full path of a socket/,
    accepted: upstream({ targets: ['unix:/run/service.sock'] }),
  },
  {
    says: 'an origin has no path',
    refused: upstream({ targets: ['http://127.0.0.1:9000/api'] }),
    message: /targets\[0\]: must be an http or https origin without path/,
    accepted: upstream({ targets: ['http://127.0.0.1:9000/'] }),
  },
  {
    says: 'the first absence is not longer than the longest',
    refused: upstream({ outlierDetection: { baseEjectionTime: '2m', maxEjectionTime: '1m' } }),
    message: /outlierDetection\.baseEjectionTime: is longer than outlierDetection\.maxEjectionTime/,
    accepted: upstream({ outlierDetection: { baseEjectionTime: '1m', maxEjectionTime: '1m' } }),
  },
  {
    says: 'the problem of a key of an earlier version names the present key',
    refused: upstream({ ejection: { time: '1m' } }),
    message: /ejection: unknown key; it is called outlierDetection now, and in it time is baseEjectionTime/,
    accepted: upstream({ outlierDetection: { baseEjectionTime: '1m' } }),
  },
  {
    says: 'each earlier key of outlierDetection has its present name',
    refused: upstream({ outlierDetection: { mostPercent: 20 } }),
    message: /mostPercent: unknown key; it is called maxEjectionPercent now/,
    accepted: upstream({ outlierDetection: { maxEjectionPercent: 20 } }),
  },
  {
    says: 'the earlier key of the retry budget has its present name',
    refused: upstream({ retryPercent: 10 }),
    message: /retryPercent: unknown key; it is called retryBudgetPercent now/,
    accepted: upstream({ retryBudgetPercent: 10 }),
  },
  {
    says: 'TLS is for https targets',
    refused: upstream({ tls: { servername: 'items.test' } }),
    message: /tls: is without effect, since no target is https/,
    accepted: upstream({ targets: ['https://127.0.0.1:9000'], tls: { servername: 'items.test' } }),
  },
  {
    says: 'a name in a certificate is the name of a host',
    refused: upstream({ targets: ['https://127.0.0.1:9000'], tls: { servername: 'items:443' } }),
    message: /tls\.servername: must be the name of a host/,
    accepted: upstream({ targets: ['https://127.0.0.1:9000'], tls: { servername: 'items.test' } }),
  },
  {
    says: 'a health check asks for a path',
    refused: upstream({ health: { path: 'healthz' } }),
    message: /health\.path: must be a path, such as \/healthz/,
    accepted: upstream({ health: { path: '/healthz?deep=1' } }),
  },
  {
    says: 'a share is a whole number of percent',
    refused: upstream({ retryBudgetPercent: 101 }),
    message: /retryBudgetPercent: must be a whole number from 0 to 100/,
    accepted: upstream({ retryBudgetPercent: '100' }),
  },
  {
    says: 'an upstream takes one request at a time at least',
    refused: upstream({ maxInFlight: 0 }),
    message: /maxInFlight: must be a whole number from 1/,
    accepted: upstream({ maxInFlight: 1, maxQueue: 0 }),
  },
])

t.test('the limit of concurrent requests to an upstream is divided among the workers', async t => {
  const config = await acceptedConfig(t, { ...upstream({ maxInFlight: 10, maxQueue: 2 }), workers: 4 })

  t.match(config.upstreams, [{ maxInFlight: 2, maxQueue: 1 }])
})
