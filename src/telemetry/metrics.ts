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
  /** How the values of several processes are combined. Counters and histograms are always summed. */
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
    'Time from the request header to the last byte of the response handed to the socket.',
    ['grouping', 'operation', 'code_class'],
    latencySec,
  ),
  httpRequestsInFlight: gauge('sidegate_http_requests_in_flight', 'Requests being answered now.', ['grouping']),
  connectionsDropped: counter(
    'sidegate_connections_dropped_total',
    'Connections refused or closed by Sidegate, by reason.',
    ['reason'],
  ),
  overhead: histogram(
    'sidegate_overhead_seconds',
    'Time of a request without the time spent waiting for the upstream.',
    ['grouping'],
    overheadSec,
  ),
  planDecisions: counter(
    'sidegate_plan_decisions_total',
    'Plan limit decisions, made by the shared count or, while the store does not answer, locally.',
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
    'Sign-ins of users: started, then accepted, rejected, or expired before the user finished.',
    ['outcome'],
  ),
  shed: counter(
    'sidegate_shed_total',
    'Sign-ins without a known user, and pushed requests of public clients, removed because there were more than login.maxInteractions.',
    ['kind'],
  ),
  oauthErrors: counter('sidegate_oauth_errors_total', 'Errors answered by OAuth operations, by RFC code.', [
    'operation',
    'error',
  ]),
  upstreamDuration: histogram(
    'sidegate_upstream_duration_seconds',
    'Time from sending a request to an upstream to the end of its response.',
    ['upstream', 'code_class'],
    latencySec,
  ),
  upstreamErrors: counter('sidegate_upstream_errors_total', 'Upstream round trips that failed.', [
    'upstream',
    'reason',
  ]),
  upstreamMembers: gauge('sidegate_upstream_endpoints', 'Addresses of upstreams by state, summed over the workers.', [
    'upstream',
    'state',
  ]),
  upstreamRetries: counter(
    'sidegate_upstream_retries_total',
    'Upstream requests that failed and could be retried, by decision.',
    ['upstream', 'decision'],
  ),
  upstreamQueue: gauge(
    'sidegate_upstream_pending_requests',
    'Requests that wait for a free connection to an upstream.',
    ['upstream'],
  ),
  storeDuration: histogram(
    'sidegate_store_duration_seconds',
    'Time of store calls, both successful and failed.',
    ['store', 'operation'],
    overheadSec,
  ),
  storeUp: gauge('sidegate_store_up', '1 if every worker reaches the store, otherwise 0.', ['store'], 'min'),
  storeNoeviction: gauge(
    'sidegate_store_noeviction',
    '1 if every Redis server has the maxmemory-policy noeviction, 0 if one may evict keys; absent if Redis does not report its policy.',
    ['store'],
    'min',
  ),
  storedClients: gauge(
    'sidegate_stored_clients',
    'Clients of the store, by whether they fit the configuration. Clients that do not fit are not served.',
    ['state'],
    'min',
  ),
  traceSpans: counter('sidegate_trace_spans_total', 'Spans of traces, by outcome.', ['outcome']),
  keyRotationDue: gauge(
    'sidegate_signing_key_rotation_due_timestamp_seconds',
    'Time at which the newest signing key of an algorithm must have a successor. A time in the past means that the rotation is overdue.',
    ['alg'],
    'min',
  ),
  certificateExpiry: gauge(
    'sidegate_certificate_expiry_timestamp_seconds',
    'Earliest expiry time of the certificates in a file that is in use.',
    ['use', 'upstream'],
    'min',
  ),
  workers: gauge('sidegate_workers', 'Number of workers that serve.'),
  workerRestarts: counter('sidegate_worker_restarts_total', 'Workers replaced, by reason.', ['reason']),
  logLinesDropped: counter(
    'sidegate_log_lines_dropped_total',
    'Log lines lost because standard output did not accept them.',
    [],
  ),
  configReloadSuccessful: gauge(
    'sidegate_config_last_reload_successful',
    '1 if the last load of the configuration succeeded, otherwise 0.',
  ),
  configReloadTimestamp: gauge(
    'sidegate_config_last_reload_success_timestamp_seconds',
    'Time of the last successful load of the configuration.',
  ),
  buildInfo: gauge('sidegate_build_info', 'Always 1; the labels identify the build.', [
    'version',
    'node_version',
    'commit',
  ]),
} as const satisfies Record<string, MetricDeclaration>

export type MetricKey = keyof typeof metrics
