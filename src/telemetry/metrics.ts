/**
 * Every metric, declared once. Labels come from closed sets only: names of the configuration, literals of the code,
 * and the statuses that have a name; never a path, a client or a token.
 */
export interface MetricDeclaration {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  /** Upper bounds in the metric's unit, ascending; `+Inf` is implied. Histograms only. */
  readonly buckets: readonly number[]
  /** How the values of several workers become one. Counters and histograms are always summed. */
  readonly over: 'sum' | 'min'
}

const counter = (name: string, help: string, labels: readonly string[]): MetricDeclaration => ({
  name,
  help,
  kind: 'counter',
  labels,
  buckets: [],
  over: 'sum',
})

const gauge = (
  name: string,
  help: string,
  labels: readonly string[] = [],
  over: 'sum' | 'min' = 'sum',
): MetricDeclaration => ({ name, help, kind: 'gauge', labels, buckets: [], over })

const histogram = (
  name: string,
  help: string,
  labels: readonly string[],
  buckets: readonly number[],
): MetricDeclaration => ({ name, help, kind: 'histogram', labels, buckets, over: 'sum' })

const latencySec = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const overheadSec = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1]

export const metrics = {
  httpRequests: counter('sidegate_http_requests_total', 'Requests answered.', [
    'grouping',
    'version',
    'operation',
    'method',
    'code',
  ]),
  httpRequestDuration: histogram(
    'sidegate_http_request_duration_seconds',
    'From the request header to the last byte handed to the socket.',
    ['grouping', 'operation', 'code_class'],
    latencySec,
  ),
  httpRequestsInFlight: gauge('sidegate_http_requests_in_flight', 'Requests being answered now.', ['grouping']),
  connectionsDropped: counter(
    'sidegate_connections_dropped_total',
    'Connections that were not taken, or ended since no request came of them or nothing of an answer was taken.',
    ['reason'],
  ),
  overhead: histogram(
    'sidegate_overhead_seconds',
    "A request's total time less the upstream's.",
    ['grouping'],
    overheadSec,
  ),
  planDecisions: counter(
    'sidegate_plan_decisions_total',
    'Plan limit decisions of the shared count, and those made while the store was away.',
    ['plan', 'grouping', 'decision'],
  ),
  credentialChecks: counter('sidegate_credential_checks_total', 'Callers checked, by kind of credential.', [
    'grouping',
    'credential',
    'result',
  ]),
  tokensIssued: counter('sidegate_tokens_issued_total', 'Access tokens issued.', ['grant_type', 'format']),
  introspections: counter('sidegate_introspections_total', 'Introspections answered.', ['result']),
  interactions: counter(
    'sidegate_interactions_total',
    'Sign-ins by people: started, then accepted, rejected, or expired before somebody came back.',
    ['outcome'],
  ),
  shed: counter(
    'sidegate_shed_total',
    'Sign-ins without a person yet, and pushed requests of public clients, removed because there were more than login.maxInteractions.',
    ['kind'],
  ),
  oauthErrors: counter('sidegate_oauth_errors_total', 'Errors answered by OAuth operations, by RFC code.', [
    'operation',
    'error',
  ]),
  upstreamDuration: histogram(
    'sidegate_upstream_duration_seconds',
    'From sending a request upstream to the end of its answer.',
    ['upstream', 'code_class'],
    latencySec,
  ),
  upstreamErrors: counter('sidegate_upstream_errors_total', 'Upstream round trips that failed.', [
    'upstream',
    'reason',
  ]),
  upstreamMembers: gauge(
    'sidegate_upstream_endpoints',
    'Addresses that serve upstreams, as each worker sees them: the sum over the workers.',
    ['upstream', 'state'],
  ),
  upstreamRetries: counter('sidegate_upstream_retries_total', 'Requests that another try was due to.', [
    'upstream',
    'decision',
  ]),
  upstreamQueue: gauge('sidegate_upstream_pending_requests', 'Requests that wait for room at an upstream.', [
    'upstream',
  ]),
  storeDuration: histogram(
    'sidegate_store_duration_seconds',
    'Store calls, answered or failed.',
    ['store', 'operation'],
    overheadSec,
  ),
  storeUp: gauge('sidegate_store_up', '1 while every worker reaches the store.', ['store'], 'min'),
  storeNoeviction: gauge(
    'sidegate_store_noeviction',
    '1 if every Redis server has the maxmemory-policy noeviction, 0 if one may evict keys; none if Redis does not tell.',
    ['store'],
    'min',
  ),
  storedClients: gauge(
    'sidegate_stored_clients',
    'Clients of the store, by whether their kind fits the configuration; those that do not are not served.',
    ['state'],
    'min',
  ),
  traceSpans: counter('sidegate_trace_spans_total', 'Spans of traces, by what became of them.', ['outcome']),
  keyRotationDue: gauge(
    'sidegate_signing_key_rotation_due_timestamp_seconds',
    'When the newest signing key of an algorithm is due to have a successor. In the past: it is overdue.',
    ['alg'],
    'min',
  ),
  certificateExpiry: gauge(
    'sidegate_certificate_expiry_timestamp_seconds',
    'When the first of the certificates in a file that is in use expires.',
    ['use', 'upstream'],
    'min',
  ),
  workers: gauge('sidegate_workers', 'Workers that are serving.'),
  workerRestarts: counter('sidegate_worker_restarts_total', 'Workers replaced, by reason.', ['reason']),
  logLinesDropped: counter(
    'sidegate_log_lines_dropped_total',
    'Log lines that were lost because standard output did not take them.',
    [],
  ),
  configReloadSuccessful: gauge('sidegate_config_last_reload_successful', '1 if the last configuration load was good.'),
  configReloadTimestamp: gauge(
    'sidegate_config_last_reload_success_timestamp_seconds',
    'When a good configuration was last loaded.',
  ),
  buildInfo: gauge('sidegate_build_info', 'Always 1.', ['version', 'node_version', 'commit']),
} as const satisfies Record<string, MetricDeclaration>

export type MetricKey = keyof typeof metrics
