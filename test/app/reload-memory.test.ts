import { queryObjects } from 'node:v8'
import { pino } from 'pino'
import t from 'tap'
import { createApp } from '../../src/app.ts'
import { Upstream } from '../../src/gateway/upstreams/upstream.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { acceptedConfig } from '../config/support.ts'
import { eventually } from '../support/eventually.ts'

/** Each configuration has a different upstream, so that no gateway reuses the upstream of another. */
const setting = (timeoutSec: number) => ({
  store: 'memory:',
  workers: 1,
  plans: { p: { rate: '10/1second' } },
  groupings: [{ name: 'A', upstream: 'a', operations: [{ method: 'GET', path: '/**', credentials: 'none' }] }],
  upstreams: { a: { targets: ['http://127.0.0.1:1'], connectTimeout: `${timeoutSec}s` } },
})

t.test('a reload leaves nothing of the previous gateways in memory', async t => {
  const app = await createApp(await acceptedConfig(t, setting(1)), {
    log: pino({ enabled: false }),
    accessLog: { write: () => undefined },
    audit: { write: () => undefined },
    recorder: createRecorder(),
    limiterChannel: async () => [],
    share: () => ({ index: 0, of: 1 }),
    onStoreState: () => undefined,
    onChange: () => undefined,
    onRevoked: () => undefined,
    onCertificateRefused: () => undefined,
  })
  t.teardown(() => app.close())

  for (const timeoutSec of [2, 3, 4, 5, 6]) {
    const prepared = await app.prepare(await acceptedConfig(t, setting(timeoutSec)))
    prepared.adopt()
  }

  // The gateway that serves, and the previous one, which the last reload may still reference.
  await eventually(() => Number(queryObjects(Upstream, { format: 'count' })) <= 2)
})
