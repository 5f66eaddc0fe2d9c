import type { Clock } from '../../../src/clock.ts'
import { OAuthError } from '../../../src/errors.ts'
import { createAuthorizeRateLimit } from '../../../src/gateway/authn/authorize-rate-limit.ts'
import { createBruteForceLimit } from '../../../src/gateway/authn/brute-force-limit.ts'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import type { OAuthDeps } from '../../../src/oauth/deps.ts'
import { createFeedWatch } from '../../../src/oauth/feed-watch.ts'
import { type AuthorizationServer, createAuthorizationServer } from '../../../src/oauth/index.ts'
import { openKeyRing } from '../../../src/oauth/keys/key-ring.ts'
import type { OAuthOptions } from '../../../src/oauth/options.ts'
import type { OAuthRequest } from '../../../src/oauth/protocol.ts'
import { newUnmatchedHash } from '../../../src/oauth/secrets/secret-hash.ts'
import { createRevocationFeed } from '../../../src/oauth/tokens/revocation-feed.ts'
import { Secret } from '../../../src/secret.ts'
import { createMemoryLimiter } from '../../../src/stores/memory/limiter.ts'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/ports/store.ts'
import { type CodeOptions, makeCode } from './make-code.ts'

export { verifier } from './make-code.ts'

export const issuer = 'https://auth.example'

/** A clock that the test moves. */
export interface ManualClock extends Clock {
  advanceSec(seconds: number): void
  /** Sets the clock as an operator does: no time passes. */
  setBackSec(seconds: number): void
}

/** @param nowMs its start; the real time for a store that has its own clock */
export const createManualClock = (nowMs = 1_800_000_000_000): ManualClock => {
  let monotonicMs = 0
  return {
    nowMs: () => nowMs,
    monotonicMs: () => monotonicMs,
    advanceSec: seconds => {
      nowMs += seconds * 1000
      monotonicMs += seconds * 1000
    },
    setBackSec: seconds => {
      nowMs -= seconds * 1000
    },
  }
}

/** The defaults of a client registration. */
export const clientDefaults = {
  assertion_audience: 'issuer',
  tls_client_certificate_bound_access_tokens: false,
  dpop_bound_access_tokens: false,
  require_pushed_authorization_requests: false,
  require_signed_request_object: false,
  introspection_signed_response_alg: 'ES256',
  access_token_signed_response_alg: 'ES256',
  bindToBrowser: true,
} as const satisfies Partial<ClientRegistration>

/** The default options of the authorization server. */
export const optionDefaults = {
  profile: 'none',
  scopeTexts: new Map(),
  par: { lifetimeSec: 60 },
  dpop: { nonce: 'required' },
  keys: { rotateEverySec: 30 * 24 * 3600 },
  login: { mode: 'embedded' },
  resources: [
    { resource: 'https://api.example', scopes: [], name: 'Everything' },
    { resource: 'https://api.example/accounts', scopes: ['read', 'write'], name: 'Accounts' },
  ],
  takesClientCertificates: false,
} as const satisfies Partial<OAuthOptions>

/** A confidential client with the secret `<client_id>-secret` and the changes of the test. */
export const client = (client_id: string, changes: Partial<ClientRegistration> = {}): ClientRegistration => ({
  client_id,
  client_name: client_id,
  profile: 'none',
  secrets: [{ kind: 'plain', value: new Secret(`${client_id}-secret`) }],
  ...clientDefaults,
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  redirect_uris: [`https://${client_id}.example/callback`],
  scope: ['read', 'write', 'offline_access'],
  token_endpoint_auth_method: 'client_secret_basic',
  application_type: 'web',
  pkce: 'required',
  introspects: 'own',
  plan: 'default-plan',
  ...changes,
})

export const publicClient = (client_id: string): ClientRegistration => {
  return client(client_id, { token_endpoint_auth_method: 'none', secrets: [] })
}

/** The parts of a request beside its parameters. */
export interface Sent {
  /** Authenticates with HTTP Basic as this client. */
  readonly as?: string
  readonly request?: Partial<OAuthRequest>
}

/** One response as the gateway would write it. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Readonly<Record<string, unknown>>
}

export interface TestServer {
  readonly server: AuthorizationServer
  readonly deps: OAuthDeps
  readonly clock: ManualClock
  token(parameters: Readonly<Record<string, string>>, sent: Sent): Promise<Answer>
  introspect(parameters: Readonly<Record<string, string>>, sent: Sent): Promise<Answer>
  revoke(parameters: Readonly<Record<string, string>>, sent: Sent): Promise<Answer>
  /** A code that the authorization server issues after the consent of alice. */
  makeCode(client_id: string, options?: CodeOptions): Promise<string>
}

/** The options of a test. */
export interface OptionChanges extends Partial<Omit<OAuthOptions, 'clients'>> {
  readonly clients?: readonly ClientRegistration[]
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/**
 * The authorization server with clients `app`, `other` and the public `spa`; over a new memory store unless the
 * test has another one.
 */
export const startServer = async (
  t: Teardown,
  { clients: registrations = defaultClients, ...changes }: OptionChanges = {},
  clock: ManualClock = createManualClock(),
  store: Store = createMemoryStore(clock),
): Promise<TestServer> => {
  const clients = createClients(registrations)
  const options = { ...defaultOptions, clients, ...changes }
  const keys = await openKeyRing(store.keys, clock, options)
  t.teardown(() => keys.close())
  const feedWatch = createFeedWatch(store.feeds)
  t.teardown(() => feedWatch.close())
  const revocations = createRevocationFeed(store, feedWatch, clock)
  const own = { options, store, clock, clients, keys, revocations }
  const deps = { ...own, ...createLimits(clock), reportFetchFailure: () => undefined }
  const server = createAuthorizationServer(deps)

  const call =
    (endpoint: 'token' | 'introspect' | 'revoke') =>
    (parameters: Readonly<Record<string, string>>, sent: Sent): Promise<Answer> =>
      answer(async () => {
        const request = formRequest(parameters, sent)
        const form = server.parseForm(request)
        return server[endpoint](form, await server.authenticate(form, request), request)
      })
  return {
    server,
    deps,
    clock,
    token: call('token'),
    introspect: call('introspect'),
    revoke: call('revoke'),
    makeCode: (client_id, codeOptions) => makeCode(deps, client_id, codeOptions),
  }
}

/** Ten wrong proofs a minute for each name and address, and 300 starts, counted by the gateway's rules. */
const createLimits = (clock: ManualClock): Pick<OAuthDeps, 'failures' | 'starts'> => {
  const limiter = createMemoryLimiter(clock)
  return {
    failures: createBruteForceLimit(limiter, { limit: 10, windowSec: 60 }, () => clock.nowMs()),
    starts: createAuthorizeRateLimit(limiter, { limit: 300, windowSec: 60 }),
  }
}

const defaultClients = [client('app'), client('other'), publicClient('spa')]

const defaultOptions: Omit<OAuthOptions, 'clients'> = {
  ...optionDefaults,
  issuer,
  accessToken: { format: 'jwt', lifetimeSec: 600, alg: 'ES256' },
  refreshToken: { lifetimeSec: 30 * 24 * 3600, reuseWindowSec: 10 },
  code: { lifetimeSec: 60 },
  users: [{ username: 'alice', password_hash: newUnmatchedHash('slow') }],
  interactionLifetimeSec: 900,
  maxInteractions: 1000,
  endpoints: {
    token: `${issuer}/token`,
    introspect: `${issuer}/introspect`,
    revoke: `${issuer}/revoke`,
    authorize: `${issuer}/authorize`,
    jwks: `${issuer}/jwks.json`,
  },
}

export const emptyRequest: OAuthRequest = {
  method: 'POST',
  path: '/token',
  query: '',
  body: '',
  contentType: 'application/x-www-form-urlencoded',
  authorization: [],
  cookie: undefined,
  accept: undefined,
  acceptLanguage: undefined,
  origin: undefined,
  fetchSite: undefined,
  address: '192.0.2.1',
  dpop: [],
  clientCertificate: undefined,
}

export const formRequest = (
  parameters: Readonly<Record<string, string>>,
  { as, request = {} }: Sent = {},
): OAuthRequest => ({
  ...emptyRequest,
  body: new URLSearchParams(parameters).toString(),
  ...(as !== undefined && { authorization: [basic(as, `${as}-secret`)] }),
  ...request,
})

/** HTTP Basic with the encoding of RFC 6749 section 2.3.1. */
export const basic = (client_id: string, client_secret: string): string => {
  const encode = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2)
  return `Basic ${Buffer.from(`${encode(client_id)}:${encode(client_secret)}`).toString('base64')}`
}

/** A reply, or the refusal as the common error writer would write it. */
export const answer = async (serve: () => unknown): Promise<Answer> => {
  try {
    const { status, headers, body } = (await serve()) as Answer
    return { status, headers, body: JSON.parse(JSON.stringify(body ?? {})) }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const body = { error: error.code, error_description: error.message }
    return { status: error.status, headers: error.headers, body }
  }
}
