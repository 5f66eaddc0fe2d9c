/**
 * Every field of a log line, declared once: a name has the same meaning in every line. Not listed are the fields with
 * which each line begins (`level`, `time`, `pid` or `worker_pid`, `event`) and the sentence in `msg`.
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
  action: string('the name of the event of an audit line'),
  active_at: string('the time from which a key signs, ISO 8601'),
  address: string(
    "the client's IP address, behind trusted proxies too; of an upstream the address and port of its member",
  ),
  addresses: strings('the current addresses of an upstream'),
  admin: string('the origin of the admin port'),
  alg: string('the algorithm of a key'),
  cause: string('`signal` or `file`'),
  checked_for: string('the gateway that sent a forward-auth request: `nginx`, `envoy`, `traefik` or `caddy`'),
  client_id: string('the authenticated client, or the client that an authorization request names'),
  code: string('the error code of the operating system'),
  delay_ms: integer('how long connections are still accepted, in ms'),
  dropped: integer('the number of lines that were lost'),
  duration_ms: number('the duration of the whole request, in ms'),
  err: { type: 'error', meaning: 'a fault of Sidegate: its `type`, its `message`, and the place in the code (`at`)' },
  exit_code: integer('the exit code of a process'),
  for_ms: integer('the duration, in ms'),
  format: string('the format of an access token: `jwt` or `opaque`'),
  grant_type: string('the grant type by which a token was issued'),
  grouping: string('the API grouping, or `unmatched`'),
  host: string('the host that the request was sent to'),
  internal: string('the origin of the private listener'),
  issuer: string('the issuer of the tokens'),
  jti: string('the identifier of an access token, which cannot be used as a token'),
  kept_disabled: integer('the number of lost clients that remain disabled'),
  kid: string('the identifier of a signing key'),
  listen: string('the origin of the traffic listener'),
  lost: integer('the number of clients that the store has lost'),
  method: string('the method of the request, as sent'),
  name: string('the host name that was resolved'),
  operation: string('the method and the configured path of the operation'),
  outcome: string('`success` or `failure`; of `stopped` the reason why the wait ended'),
  part: string('`store`, or `limiter`: the shared count of the plans'),
  path: string(
    'the path that is routed, without the query; truncated after 1024 characters, and before an encoded `?` or `#`, because a secret may follow; empty if the target is refused with 400, and for `OPTIONS *`',
  ),
  plan: string('the name of a plan'),
  problems: strings('the faults, each with its place'),
  reason: string('the reason, in a few words'),
  error_code: string('the reason why a proof was refused'),
  replaced_in_ms: number('the time until another worker starts, in ms'),
  request_id: string('the `X-Request-Id` of the response'),
  scope: string('the granted scope, separated by spaces'),
  signal: string('the name of a signal'),
  slot: integer('the slot of a worker, from 0'),
  status: integer('the status of the response; 499: the client closed the connection before it'),
  store: string('the kind of the store'),
  sub: string('the subject of a token: a user, or the client itself'),
  timeout_ms: integer('the maximum wait for requests in flight, in ms'),
  upstream: string('the name of an upstream'),
  upstream_ms: number('the part of `duration_ms` spent waiting for the upstream, in ms'),
  valid_to: string('the time until which a certificate is valid, ISO 8601'),
  worker_pid: integer('the process id of a worker'),
  workers: integer('the number of workers'),
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
