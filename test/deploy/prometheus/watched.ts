/** A gateway of two workers that is watched by a real Prometheus, as deploy/compose sets one up. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { type RunningPrometheus, startPrometheus } from '../../support/prometheus.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { type RunningSidegate, startSidegate } from '../../support/sidegate.ts'
import { startOtlpReceiver } from '../../telemetry/support/otlp-receiver.ts'
import { folder, readProject } from '../compose/project.ts'
import { gatewayBefore, type Sent, sendRound } from './traffic.ts'

export interface Watched {
  readonly sidegate: RunningSidegate
  readonly prometheus: RunningPrometheus
  /** Everything that was sent, all of it seen by Prometheus. */
  readonly sent: readonly Sent[]
}

/**
 * Prometheus has seen two rounds of requests, so that every rate has a beginning and an end, and after them a worker
 * that was killed and replaced.
 */
export const startWatched = async (t: Parameters<typeof startSidegate>[0]): Promise<Watched> => {
  const upstream = await startStrictUpstream(t)
  const collector = await startOtlpReceiver(t)
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' }
  const sidegate = await startSidegate(t, gatewayBefore(upstream.url, createCertificates(t).ca.certFile), tracing)
  const features = readProject().services.prometheus.command.filter(word => word.startsWith('--enable-feature='))
  const prometheus = await startPrometheus(t, configurationFor(sidegate), features)
  const hasSeen = (promql: string, value: number): Promise<void> =>
    eventually(async () => (await prometheus.query(promql))[0]?.value === value)

  const sent = [...(await sendRound(sidegate.url, 1))]
  await hasSeen('sum(sidegate_http_requests_total)', sent.length)
  sent.push(...(await sendRound(sidegate.url, 2)))
  await hasSeen('sum(sidegate_http_requests_total)', sent.length)
  await hasSeen('sum(sidegate_trace_spans_total) > bool 0', 1)
  process.kill(sidegate.workerPids()[0] ?? 0, 'SIGKILL')
  await hasSeen('sum(sidegate_worker_restarts_total)', 1)
  await hasSeen('sidegate_workers', 2)
  return { sidegate, prometheus, sent }
}

const shipped = z.looseObject({
  global: z.looseObject({}),
  rule_files: z.array(z.string()),
  scrape_configs: z.tuple([z.looseObject({})]),
})

const rules = join(folder, '../prometheus')

/** The file of deploy/compose, with other targets, another interval, and another path of the rules. */
const configurationFor = ({ admin }: RunningSidegate): unknown => {
  const { rule_files, scrape_configs, ...rest } = shipped.parse(
    parse(readFileSync(join(folder, 'prometheus.yaml'), 'utf8')),
  )
  return {
    ...rest,
    global: { ...rest.global, scrape_interval: '500ms', evaluation_interval: '500ms' },
    rule_files: rule_files.map(file => join(rules, basename(file))),
    scrape_configs: [{ ...scrape_configs[0], static_configs: [{ targets: [new URL(admin).host] }] }],
  }
}
