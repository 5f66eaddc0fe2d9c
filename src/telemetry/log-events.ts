import type { LogField, LogValue, Simplify } from './log-fields.ts'

export type LogLevel = 'info' | 'warn' | 'error' | 'fatal'

/**
 * The declaration of an event. A line begins with `pid` if the primary wrote it, and with `worker_pid` if a worker did.
 */
interface LogEventDeclaration<L extends LogLevel, F extends LogField, O extends LogField> {
  readonly level: L
  readonly fields: readonly F[]
  /** Fields that a line has only if they are known, or apply. */
  readonly optional: readonly O[]
  /** The same text as in the README.md of this folder. */
  readonly when: string
}

const event = <L extends LogLevel, F extends LogField, O extends LogField = never>(
  level: L,
  when: string,
  fields: readonly F[],
  optional: readonly O[] = [],
): LogEventDeclaration<L, F, O> => ({ level, when, fields, optional })

/**
 * Every event that is logged, declared once. A field that an event does not declare, and an undeclared event, do not
 * compile.
 */
export const logEvents = {
  request: event(
    'info',
    'a request was answered',
    ['request_id', 'grouping', 'operation', 'method', 'path', 'status', 'address', 'duration_ms'],
    ['client_id', 'upstream_ms', 'error_code', 'checked_for'],
  ),
  audit: event(
    'info',
    'an event of the audit log, named by its `action`; a warning if its `outcome` is `failure`',
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
  worker_ready: event('info', 'a worker has begun to accept connections', ['slot'], ['worker_pid']),
  ready: event('info', 'every worker serves', ['listen', 'admin', 'workers', 'store', 'issuer'], ['internal']),
  worker_died: event(
    'error',
    'a worker exited unexpectedly, or could not start; another one replaces it after `replaced_in_ms`',
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
  worker_crashed: event('fatal', 'an uncaught exception in a worker; the worker exits', ['err']),
  primary_crashed: event('fatal', 'an uncaught exception in the primary; Sidegate exits', ['err']),
  worker_channel_failed: event('error', 'the primary could not send a message to a worker', ['err']),
  request_failed: event('error', 'a request was answered with 500 because of a fault of Sidegate', [
    'request_id',
    'err',
  ]),
  client_keys_unavailable: event(
    'warn',
    'the keys of a client cannot be fetched from its `jwks_uri`; at most every 30 s for each address in each worker',
    ['host', 'reason'],
  ),
  client_invalid: event(
    'warn',
    'a client of the store does not fit the configuration, for example because its plan was removed, and is not served; in each worker',
    ['client_id', 'reason'],
  ),
  client_shadowed: event(
    'warn',
    'the configuration and the store both have a client with this id, and the one of the configuration is served; in each worker',
    ['client_id'],
  ),
  store_clients_missing: event(
    'error',
    'the store has lost records of clients that no operator deleted; clients that were disabled remain disabled in this process until the store has their records again; in each worker',
    ['lost', 'kept_disabled'],
  ),
  soft_limit_exceeded: event(
    'warn',
    'a client exceeded a soft limit and its request was admitted; at most once for each window, plan and client in each worker',
    ['plan', 'address'],
    ['client_id', 'operation'],
  ),
  upstream_unreachable: event(
    'warn',
    'a connection to a member of an upstream fails: it is refused, its certificate is not valid, or its name has no address; once for each reason in each worker, until the member is reachable',
    ['upstream', 'address', 'reason'],
    ['code'],
  ),
  upstream_reachable: event(
    'info',
    'a member of an upstream that was unreachable answers again, and no connection to it has failed for ten seconds',
    ['upstream', 'address'],
  ),
  upstream_endpoint_ejected: event(
    'warn',
    'a member of an upstream fails repeatedly and gets no requests for `for_ms`; in each worker',
    ['upstream', 'address', 'reason', 'for_ms'],
  ),
  upstream_endpoint_restored: event(
    'info',
    'a member of an upstream that was ejected gets requests again; in each worker',
    ['upstream', 'address'],
  ),
  upstream_endpoint_unhealthy: event('warn', 'a member of an upstream fails its health check; in each worker', [
    'upstream',
    'address',
  ]),
  upstream_endpoint_healthy: event('info', 'a member of an upstream passes its health check again; in each worker', [
    'upstream',
    'address',
  ]),
  upstream_addresses_changed: event('info', 'the addresses of the name of a target have changed', [
    'upstream',
    'name',
    'addresses',
  ]),
  upstream_name_unresolved: event('warn', 'the name of a target cannot be resolved; once, until it can', [
    'upstream',
    'name',
    'reason',
  ]),
  upstream_certificate_renewed: event(
    'info',
    "the files of an upstream's `tls` have changed: new connections use them, and the older connections are closed",
    ['upstream'],
  ),
  upstream_certificate_refused: event(
    'warn',
    "the changed files of an upstream's `tls` cannot be used, so the old ones remain in use",
    ['upstream', 'reason'],
  ),
  store_down: event(
    'error',
    'the store or the shared count of the plans does not answer; once for all workers',
    ['store', 'part'],
    ['reason'],
  ),
  store_up: event('info', 'the store or the shared count of the plans answers again; once for all workers', [
    'store',
    'part',
  ]),
  store_evicts: event(
    'warn',
    'Redis may evict keys before their lifetimes end, because its `maxmemory-policy` is not `noeviction`; read at the start and every minute',
    ['store', 'reason'],
  ),
  store_replaced: event(
    'error',
    'the file of the embedded store was removed or replaced; Sidegate is not ready until the file is back, or until it is restarted',
    ['store'],
  ),
  certificate_renewed: event('info', 'the files of `tls` have changed, and new connections get the new certificate', [
    'valid_to',
  ]),
  certificate_refused: event(
    'warn',
    'the changed files of `tls` cannot be used, or hold a certificate that is not valid now, so the old certificate remains in use',
    ['reason'],
  ),
  collector_down: event('warn', 'the collector does not accept traces; once, in each worker', ['host'], ['reason']),
  collector_up: event('info', 'the collector accepts traces again; in each worker', ['host']),
  log_lines_dropped: event(
    'warn',
    'log lines were lost because the reader of standard output was too slow or had exited, or because its disk was full; it accepts lines again; in each process',
    ['dropped'],
  ),
  config_reloaded: event('info', 'every worker serves a changed configuration', ['cause']),
  config_refused: event('error', 'a changed configuration cannot be served, so the old one remains in use', [
    'cause',
    'problems',
  ]),
  workers_replaced: event('info', 'every worker was replaced by a new one after `SIGUSR2`', []),
  rolling_restart_failed: event(
    'error',
    'not every worker could be replaced after `SIGUSR2`; the old ones that are left continue to serve',
    ['reason'],
  ),
  draining: event('info', 'SIGTERM or SIGINT (Ctrl-C) was received', ['signal', 'delay_ms', 'timeout_ms']),
  stopped: event(
    'info',
    'Sidegate has stopped and answered every request in flight; a warning if it has not',
    [],
    ['signal', 'outcome'],
  ),
} as const

export type LogEvent = keyof typeof logEvents

type Needed<E extends LogEvent> = (typeof logEvents)[E]['fields'][number]
type Possible<E extends LogEvent> = (typeof logEvents)[E]['optional'][number]

/** A line of an event. One object type, because with an intersection the compiler would accept fields of no event. */
export type LogEntry<E extends LogEvent> = { readonly event: E } & Simplify<
  { readonly [F in Needed<E>]: LogValue<F> } & { readonly [F in Possible<E>]?: LogValue<F> | undefined }
>

/** Events that are logged as warnings if their outcome is a failure. */
type DowngradableEvent = 'audit' | 'stopped'

/** The events that may be logged at a level. */
export type EventAt<L extends LogLevel> = {
  [E in LogEvent]: (typeof logEvents)[E]['level'] extends L
    ? E
    : L extends 'warn'
      ? Extract<E, DowngradableEvent>
      : never
}[LogEvent]
