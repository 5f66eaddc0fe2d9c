import { systemClock } from '../../../src/clock.ts'
import { operationLabel, publishOperations, type SidegateConfig } from '../../../src/config/load.ts'
import { gatewayErrors, oauthErrors } from '../../../src/errors.ts'
import { methods } from '../../../src/gateway/operation.ts'
import { endpointStates } from '../../../src/gateway/upstreams/endpoint.ts'
import type { UpstreamFailure } from '../../../src/gateway/upstreams/upstream-failure.ts'
import type { DropReason } from '../../../src/http/server/options.ts'
import { grantTypes, signingAlgs } from '../../../src/oauth/protocol.ts'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import type { CertificateUse } from '../../../src/telemetry/certificate-metrics.ts'
import { codeLabels } from '../../../src/telemetry/metric-labels.ts'
import { type MetricDeclaration, type MetricKey, metrics } from '../../../src/telemetry/metrics.ts'
import { buildInfo } from '../../../src/version.ts'
import type { Exposition, Sample } from './exposition.ts'

/** The parts of a configuration that create series. */
export interface SeriesMakers {
  readonly operations: readonly {
    readonly grouping: string
    readonly version: string
    readonly method: string
    readonly label: string
    readonly isServed: boolean
  }[]
  readonly plans: readonly string[]
  readonly upstreams: readonly string[]
  readonly store: string
}

export const seriesMakersOf = ({ operations, oauth, plans, upstreams, store }: SidegateConfig): SeriesMakers => ({
  operations: publishOperations(operations, oauth).map(operation => ({
    ...operation,
    label: operationLabel(operation),
    isServed: operation.target.kind === 'serve',
  })),
  plans: Object.keys(plans),
  upstreams: upstreams.map(({ name }) => name),
  store: store.kind,
})

/** Label values in the order in which the metric declares its labels. */
type Values = readonly string[]

/** Every combination of one value from each list. */
const product = (...lists: readonly Values[]): readonly Values[] =>
  lists.reduce<readonly Values[]>((rows, list) => rows.flatMap(row => list.map(value => [...row, value])), [[]])

const unmatched = 'unmatched'
const codeClasses = ['1xx', '2xx', '3xx', '4xx', '5xx']
const allMethods = [...methods, 'other']
const upstreamFailures = {
  connect: true,
  timeout: true,
  reset: true,
  reset_mid_body: true,
  invalid: true,
  client_gone: true,
  client_slow: true,
  too_large: true,
  busy: true,
} satisfies Record<UpstreamFailure, true>
const dropReasons = {
  limit: true,
  evicted_idle: true,
  tls: true,
  timeout: true,
  invalid: true,
  write_stalled: true,
} satisfies Record<DropReason, true>
const ownCertificates = ['listener', 'internal', 'store'] as const satisfies readonly CertificateUse[]

/** Statuses for a request that matches no operation: of the error catalogue, of `OPTIONS *`, or 499 for no answer. */
const unmatchedCodes = [...new Set(Object.values(gatewayErrors).map(({ status }) => status)), 204, 499].map(String)

/** GET may answer HEAD too; a request with any other method gets 405. */
const requestsOf = ({ operations }: SeriesMakers): readonly Values[] =>
  operations.flatMap(({ grouping, version, label, method }) => {
    const own = method === '*' ? methods : method === 'GET' ? ['GET', 'HEAD'] : [method]
    const others = allMethods.filter(other => !own.some(one => one === other))
    const place = [[grouping], [version], [label]]
    return [...product(...place, own, codeLabels), ...product(...place, others, ['405'])]
  })

const groupingsOf = ({ operations }: SeriesMakers): Values => [
  ...new Set([...operations.map(({ grouping }) => grouping), unmatched]),
]

const storeCalls = (): Values => {
  const { name: _name, ping: _ping, close: _close, ...ports } = createMemoryStore(systemClock)
  const calls = Object.entries(ports).flatMap(([port, methods]) => Object.keys(methods).map(call => `${port}.${call}`))
  return ['ping', ...calls]
}

/** Every set of label values that a metric may have. If a metric is missing here, the file does not compile. */
const valuesOf: Readonly<Record<MetricKey, (makers: SeriesMakers) => readonly Values[]>> = {
  httpRequests: makers => [
    ...requestsOf(makers),
    ...product([unmatched], [''], [unmatched], allMethods, unmatchedCodes),
  ],
  httpRequestDuration: ({ operations }) => [
    ...operations.flatMap(({ grouping, label }) => product([grouping], [label], codeClasses)),
    ...product([unmatched], [unmatched], codeClasses),
  ],
  httpRequestsInFlight: makers => product(groupingsOf(makers)),
  connectionsDropped: () => product(Object.keys(dropReasons)),
  overhead: makers => product(groupingsOf(makers)),
  planDecisions: makers =>
    product(makers.plans, groupingsOf(makers), ['allowed', 'denied', 'shadow_denied', 'local', 'open', 'closed']),
  credentialChecks: makers =>
    product(groupingsOf(makers), ['bearer', 'dpop', 'client', 'query'], ['ok', 'missing', 'refused']),
  tokensIssued: () => product(grantTypes, ['jwt', 'opaque']),
  introspections: () => product(['active', 'inactive']),
  interactions: () => product(['started', 'accepted', 'rejected', 'expired']),
  shed: () => product(['interaction', 'pushed_request']),
  oauthErrors: ({ operations }) =>
    product(
      operations.filter(({ isServed }) => isServed).map(({ label }) => label),
      Object.keys(oauthErrors),
    ),
  upstreamDuration: ({ upstreams }) => product(upstreams, codeClasses),
  upstreamErrors: ({ upstreams }) => product(upstreams, Object.keys(upstreamFailures)),
  upstreamMembers: ({ upstreams }) => product(upstreams, endpointStates),
  upstreamRetries: ({ upstreams }) => product(upstreams, ['allowed', 'denied']),
  upstreamQueue: ({ upstreams }) => product(upstreams),
  storeDuration: ({ store }) => product([store], storeCalls()),
  storeUp: ({ store }) => product([store]),
  storeNoeviction: () => [['redis']],
  storedClients: () => product(['valid', 'invalid']),
  traceSpans: () => product(['exported', 'dropped', 'refused']),
  keyRotationDue: () => product(signingAlgs),
  certificateExpiry: ({ upstreams }) => [
    ...product(
      ownCertificates.flatMap(use => [use, `${use}_ca`]),
      [''],
    ),
    ...product(['upstream', 'upstream_ca'], upstreams),
  ],
  workers: () => product(),
  workerRestarts: () => product(['exit', 'signal', 'timeout']),
  logLinesDropped: () => product(),
  configReloadSuccessful: () => product(),
  configReloadTimestamp: () => product(),
  buildInfo: () => [[buildInfo().version, buildInfo().node_version, buildInfo().commit]],
}

const keys = Object.keys(metrics) as MetricKey[]

/** How many samples one series of a metric has in a scrape. */
const samplesOf = ({ kind, buckets }: MetricDeclaration): number => (kind === 'histogram' ? buckets.length + 3 : 1)

/** The maximum number of series of a configuration: the sum over all metrics of the products of their label values. */
export const ceilingOf = (makers: SeriesMakers): number =>
  keys.reduce((sum, key) => sum + valuesOf[key](makers).length * samplesOf(metrics[key]), 0)

/** The samples of a scrape whose metric or label values do not follow from the configuration. */
export const straysIn = (exposition: Exposition, makers: SeriesMakers): readonly Sample[] => {
  const known = new Set(
    keys.flatMap(key => valuesOf[key](makers).map(values => [metrics[key].name, ...values].join('\n'))),
  )
  const labelsOf = new Map<string, readonly string[]>(keys.map(key => [metrics[key].name, metrics[key].labels]))
  return exposition.samples.filter(({ name, labels }) => {
    const metric = labelsOf.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
    const values = (labelsOf.get(metric) ?? []).map(label => labels[label] ?? '')
    return !known.has([metric, ...values].join('\n'))
  })
}
