import type { LogField, LogValue, Simplify } from './log-fields.ts'

export type LogLevel = 'info' | 'warn' | 'error' | 'fatal'

/** A kind of line. Which of `pid` (the primary) and `worker_pid` begins it says who wrote it. */
interface LogEventDeclaration<L extends LogLevel, F extends LogField, O extends LogField> {
  readonly level: L
  readonly fields: readonly F[]
  /** Those that stand there where they are known, or have a meaning. */
  readonly optional: readonly O[]
  /** As the page beside this has it. */
  readonly when: string
}

const event = <L extends LogLevel, F extends LogField, O extends LogField = never>(
  level: L,
  when: string,
  fields: readonly F[],
  optional: readonly O[] = [],
): LogEventDeclaration<L, F, O> => ({ level, when, fields, optional })

/** Every event that is logged, declared once. What a line has beside these fields, and an event that is not here, do not compile. */
export const logEvents = {
  request: event(
    'info',
    'a request was answered',
    ['request_id', 'grouping', 'operation', 'method', 'path', 'status', 'address', 'duration_ms'],
    ['client_id', 'upstream_ms', 'error_code', 'checked_for'],
  ),
  audit: event(
    'info',
    'something happened that is to be found later, as its `action` says; a warning where its `outcome` is `failure`',
    ['action', 'outcome'],
    [
      'reason',
      'client_id',
      'sub',
      'grant_type',
      'format',
      'scope',
      'jti',
      'kid',
      'alg',
      'active_at',
      'address',
      'request_id',
    ],
  ),
  worker_ready: event('info', 'a worker serves', ['slot'], ['worker_pid']),
  ready: event('info', 'all do', ['listen', 'admin', 'workers', 'store', 'issuer'], ['internal']),
  worker_died: event(
    'error',
    'a worker ended unasked, or could not start; it is replaced after `replaced_in_ms`',
    ['slot', 'replaced_in_ms'],
    ['worker_pid', 'exit_code', 'signal', 'reason'],
  ),
  worker_unresponsive: event(
    'error',
    'a worker has sent no message to the primary for three seconds, so its event loop stands still; another worker accepts from its socket',
    ['slot'],
    ['worker_pid'],
  ),
  worker_responsive: event('info', 'a worker that was unresponsive sends messages again', ['slot'], ['worker_pid']),
  worker_crashed: event('fatal', "a worker's own last words", ['err']),
  primary_crashed: event('fatal', "the program's own last words", ['err']),
  worker_channel_failed: event('error', 'the primary could not talk to a worker', ['err']),
  request_failed: event('error', 'an answer was 500', ['request_id', 'err']),
  client_keys_unavailable: event(
    'warn',
    'the keys of a client cannot be fetched from its `jwks_uri`; at most every 30 s for each address in each worker',
    ['host', 'reason'],
  ),
  client_invalid: event(
    'warn',
    'a client of the store does not fit the configuration, as where its plan is gone, and is not served; in each worker',
    ['client_id', 'reason'],
  ),
  client_shadowed: event(
    'warn',
    'the configuration and the store both have a client of this id: that of the configuration is served; in each worker',
    ['client_id'],
  ),
  store_clients_missing: event(
    'error',
    'the store has no record of clients that it had, and nobody deleted them: those that were disabled stay so in this process, until they have a record again; in each worker',
    ['lost', 'kept_disabled'],
  ),
  soft_limit_exceeded: event(
    'warn',
    'a client is over a soft limit and was let in; at most once for each window, plan and client in each worker',
    ['plan', 'address'],
    ['client_id', 'operation'],
  ),
  upstream_unreachable: event(
    'warn',
    'no connection to a member of an upstream can be made: refused, a certificate that does not hold, a name without address; once for each reason in each worker, until it is reachable',
    ['upstream', 'address', 'reason'],
    ['code'],
  ),
  upstream_reachable: event('info', 'it answers again, and nothing has failed for ten seconds', [
    'upstream',
    'address',
  ]),
  upstream_endpoint_ejected: event('warn', 'a member of an upstream fails and is left alone, in each worker', [
    'upstream',
    'address',
    'reason',
    'for_ms',
  ]),
  upstream_endpoint_restored: event('info', 'it is asked again', ['upstream', 'address']),
  upstream_endpoint_unhealthy: event('warn', 'a member does not pass its health check, in each worker', [
    'upstream',
    'address',
  ]),
  upstream_endpoint_healthy: event('info', 'it does again', ['upstream', 'address']),
  upstream_addresses_changed: event('info', 'the name of a target has other addresses than before', [
    'upstream',
    'name',
    'addresses',
  ]),
  upstream_name_unresolved: event('warn', 'it cannot be looked up; once, until it can', ['upstream', 'name', 'reason']),
  upstream_certificate_renewed: event(
    'info',
    "the files of an upstream's `tls` have changed: new connections use them, and those of before end",
    ['upstream'],
  ),
  upstream_certificate_refused: event('warn', 'they hold nothing that can be used; the old ones stay', [
    'upstream',
    'reason',
  ]),
  store_down: event(
    'error',
    "the store or the plans' shared count does not answer, once for all workers",
    ['store', 'part'],
    ['reason'],
  ),
  store_up: event('info', 'it does again', ['store', 'part']),
  store_evicts: event(
    'warn',
    'Redis may evict keys before their lifetimes end, because its `maxmemory-policy` is not `noeviction`; read at the start and every minute',
    ['store', 'reason'],
  ),
  store_replaced: event(
    'error',
    'the file of the embedded store is gone, or another one: the program is not ready until that is undone, or it is restarted',
    ['store'],
  ),
  certificate_renewed: event('info', 'the files of `tls` have changed: new connections get the new certificate', [
    'valid_to',
  ]),
  certificate_refused: event(
    'warn',
    'they hold nothing that can be served, or a certificate that is out of time; the old one stays',
    ['reason'],
  ),
  collector_down: event('warn', 'the collector of traces takes none; once, by each worker', ['host'], ['reason']),
  collector_up: event('info', 'it does again', ['host']),
  log_lines_dropped: event(
    'warn',
    'the reader of standard output was too slow or had gone, or its disk was full, and takes lines again; by each process',
    ['dropped'],
  ),
  config_reloaded: event('info', 'a changed configuration is served by every worker', ['cause']),
  config_refused: event('error', 'it cannot be served; the old one is served on', ['cause', 'problems']),
  workers_replaced: event('info', 'every worker was replaced by a new one, as `SIGUSR2` asked', []),
  rolling_restart_failed: event('error', 'not all were; the old ones that are left serve on', ['reason']),
  draining: event('info', 'SIGTERM or Ctrl-C came', ['signal', 'delay_ms', 'timeout_ms']),
  stopped: event('info', 'everything in flight was answered; a warning where it was not', [], ['signal', 'outcome']),
} as const

export type LogEvent = keyof typeof logEvents

type Needed<E extends LogEvent> = (typeof logEvents)[E]['fields'][number]
type Possible<E extends LogEvent> = (typeof logEvents)[E]['optional'][number]

/** A line of an event. One object type: in a combined one the compiler would let fields of no event through. */
export type LogEntry<E extends LogEvent> = { readonly event: E } & Simplify<
  { readonly [F in Needed<E>]: LogValue<F> } & { readonly [F in Possible<E>]?: LogValue<F> | undefined }
>

/** Those that may also be told as warnings, for how they turned out. */
type DowngradableEvent = 'audit' | 'stopped'

/** What may be logged at a level. */
export type EventAt<L extends LogLevel> = {
  [E in LogEvent]: (typeof logEvents)[E]['level'] extends L
    ? E
    : L extends 'warn'
      ? Extract<E, DowngradableEvent>
      : never
}[LogEvent]
