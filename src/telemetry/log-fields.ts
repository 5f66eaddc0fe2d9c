/**
 * Every field of a log line but those that begin each (`level`, `time`, `pid` or `worker_pid`, `event`) and the sentence in
 * `msg`, declared once: a name means the same in whatever line it stands.
 */
export interface LogFieldDeclaration {
  readonly type: 'string' | 'strings' | 'integer' | 'number' | 'error'
  /** With its unit. */
  readonly meaning: string
}

const string = (meaning: string) => ({ type: 'string', meaning }) as const
const strings = (meaning: string) => ({ type: 'strings', meaning }) as const
const integer = (meaning: string) => ({ type: 'integer', meaning }) as const
const number = (meaning: string) => ({ type: 'number', meaning }) as const

export const logFields = {
  action: string('what happened, of an audit line'),
  active_at: string('from when on a key signs, ISO 8601'),
  address: string("the caller's address, trusted proxies resolved; of an upstream its member's, with the port"),
  addresses: strings('where an upstream is now'),
  admin: string('origin of the admin port'),
  alg: string('the algorithm of a key'),
  cause: string('`signal` or `file`'),
  checked_for: string('the gateway that asked: `nginx`, `envoy`, `traefik` or `caddy`'),
  client_id: string('the client that was proven, or that an authorization request named'),
  code: string('the error code of the system'),
  delay_ms: integer('how long accepting goes on, in ms'),
  dropped: integer('how many lines were lost'),
  duration_ms: number('the whole request, in ms'),
  err: { type: 'error', meaning: 'a fault of Sidegate: `type`, `message`, and `at` what place of its code' },
  exit_code: integer('the exit code of a process'),
  for_ms: integer('for how long, in ms'),
  format: string('of an access token: `jwt` or `opaque`'),
  grant_type: string('how a token was come by'),
  grouping: string('the API grouping, or `unmatched`'),
  host: string('the host that was asked'),
  internal: string('origin of the private listener'),
  issuer: string('the issuer of the tokens'),
  jti: string('names an access token, and opens nothing'),
  kept_disabled: integer('how many clients stay disabled that the store has lost'),
  kid: string('names a signing key'),
  listen: string('origin of the traffic listener'),
  lost: integer('how many clients the store has lost'),
  method: string('of the request, as sent'),
  name: string('a name that was looked up'),
  operation: string('method and configured path'),
  outcome: string('`success` or `failure`; of `stopped` what ended the wait'),
  part: string('`store`, or `limiter`: the shared count of the plans'),
  path: string(
    'as it is routed, without the query; cut at 1024 characters, and before an encoded `?` or `#`, behind which there may be a secret; empty where the target is refused with 400, and of `OPTIONS *`',
  ),
  plan: string('name of a plan'),
  problems: strings('what is wrong, each with its place'),
  reason: string('why'),
  error_code: string('why a proof was not taken'),
  replaced_in_ms: number('until another worker starts, in ms'),
  request_id: string('the `X-Request-Id` of the answer'),
  scope: string('what was granted, separated by spaces'),
  signal: string('name of a signal'),
  slot: integer('the place of a worker, from 0'),
  status: integer('as answered; 499: the client left'),
  store: string('the kind of the store'),
  sub: string('the subject of a token: a person, or the client itself'),
  timeout_ms: integer('the longest wait for what is in flight, in ms'),
  upstream: string('name of an upstream'),
  upstream_ms: number('of `duration_ms`, waiting for the upstream, in ms'),
  valid_to: string('until when a certificate is good, ISO 8601'),
  worker_pid: integer('the process of a worker'),
  workers: integer('how many workers there are'),
} as const satisfies Readonly<Record<string, LogFieldDeclaration>>

export type LogField = keyof typeof logFields

interface LogTypes {
  readonly string: string
  readonly strings: readonly string[]
  readonly integer: number
  readonly number: number
  readonly error: unknown
}

export type LogValue<F extends LogField> = LogTypes[(typeof logFields)[F]['type']]

/** One object type of several combined. */
export type Simplify<T> = { [K in keyof T]: T[K] }
