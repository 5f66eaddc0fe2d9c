import { pino } from 'pino'
import { toUpstream } from '../../../src/config/resolve/resolve-upstream.ts'
import { upstreamSchema } from '../../../src/config/schema/upstreams.ts'
import { Upstream, type UpstreamDeps } from '../../../src/gateway/upstreams/upstream.ts'
import type { UpstreamOptions } from '../../../src/gateway/upstreams/upstream-options.ts'
import { createRecorder } from '../../../src/telemetry/recorder.ts'

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** The log lines about an upstream, as data. */
export type LogLine = Readonly<Record<string, unknown>>

/** An upstream without the rest of the gateway, and what it logs. */
export const openUpstream = (
  t: Teardown,
  options: Partial<UpstreamOptions> & Pick<UpstreamOptions, 'targets'>,
  deps: Pick<UpstreamDeps, 'lookUp' | 'nowMs'> = {},
) => {
  const logged: LogLine[] = []
  const log = pino({}, { write: line => logged.push(JSON.parse(line) as LogLine) })
  const upstream = new Upstream(
    { ...defaultsFor(options.targets), ...options },
    { recorder: createRecorder(), log, ...deps },
  )
  t.teardown(() => upstream.close())
  return { upstream, logged }
}

/** As where the configuration says nothing, but that names are looked up as often as a test can wait for. */
const defaultsFor = (targets: readonly string[]): UpstreamOptions => ({
  ...toUpstream({ name: 'up', path: [], invalidPaths: [], value: upstreamSchema.parse({ targets }) }, 1),
  dnsIntervalMs: 10,
})
