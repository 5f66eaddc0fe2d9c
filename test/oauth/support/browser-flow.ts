import { createAuthorizeRateLimit } from '../../../src/gateway/authn/authorize-rate-limit.ts'
import { createBruteForceLimit } from '../../../src/gateway/authn/brute-force-limit.ts'
import { createRequestObjects } from '../../../src/oauth/authorization/request-object.ts'
import { createClientKeyring } from '../../../src/oauth/client-keys/keyring.ts'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import type { OAuthDeps } from '../../../src/oauth/deps.ts'
import { createAuthorize } from '../../../src/oauth/endpoints/authorize.ts'
import { createFeedWatch } from '../../../src/oauth/feed-watch.ts'
import { parseParameters } from '../../../src/oauth/forms/parameters.ts'
import { createInteraction } from '../../../src/oauth/interaction/interaction.ts'
import { openKeyRing } from '../../../src/oauth/keys/key-ring.ts'
import { challengeOf, codeProof, parseGrantId } from '../../../src/oauth/opaque-token.ts'
import type { OAuthOptions } from '../../../src/oauth/options.ts'
import type { OAuthReply, OAuthRequest } from '../../../src/oauth/protocol.ts'
import { hashSecret } from '../../../src/oauth/secrets/secret-hash.ts'
import { createRevocationFeed } from '../../../src/oauth/tokens/revocation-feed.ts'
import { Secret } from '../../../src/secret.ts'
import { createMemoryLimiter } from '../../../src/stores/memory/limiter.ts'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import type { RedemptionOutcome } from '../../../src/stores/ports/grants.ts'
import { clientDefaults, emptyRequest, optionDefaults } from './authorization-server.ts'
import { createCookieJar } from './cookie-jar.ts'

/** The authorization endpoint and its pages over the memory store, with a clock that tests advance. */
export interface BrowserRoom {
  readonly deps: OAuthDeps
  readonly authorize: (request: OAuthRequest) => OAuthReply | Promise<OAuthReply>
  readonly interaction: (request: OAuthRequest) => Promise<OAuthReply>
  advanceSec(seconds: number): void
  /** A redemption as the token endpoint makes it, for the request of `ask`. */
  redeem(code: string, redirect_uri?: string): Promise<RedemptionOutcome>
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
export const callback = 'http://127.0.0.1:3000/callback'
export const password = 'correct horse battery staple'

export const demoClient: ClientRegistration = {
  client_id: 'demo',
  client_name: 'Demo client',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: [callback],
  scope: ['accounts:read', 'accounts:write', 'offline_access'],
  token_endpoint_auth_method: 'none',
  profile: 'none',
  secrets: [],
  ...clientDefaults,
  application_type: 'web',
  pkce: 'required',
  introspects: 'own',
  plan: 'default-plan',
}

const passwordHash = hashSecret(new Secret(password))

export const openBrowserRoom = async (
  t: Teardown,
  registrations: readonly ClientRegistration[] = [demoClient],
  changes: Partial<Omit<OAuthOptions, 'clients'>> = {},
): Promise<BrowserRoom> => {
  let nowMs = 1_700_000_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const store = createMemoryStore(clock)
  const clients = createClients(registrations)
  const options: OAuthOptions = {
    ...optionDefaults,
    issuer: 'http://localhost:8080',
    clients,
    accessToken: { format: 'jwt', lifetimeSec: 600, alg: 'ES256' },
    refreshToken: { lifetimeSec: 2_592_000, reuseWindowSec: 10 },
    code: { lifetimeSec: 60 },
    users: [
      { username: 'alice', password_hash: new Secret(await passwordHash) },
      { username: 'bob', password_hash: new Secret(await passwordHash), sub: 'employee-7' },
    ],
    interactionLifetimeSec: 900,
    maxInteractions: 1000,
    endpoints: {},
    ...changes,
  }
  const keys = await openKeyRing(store.keys, clock, options)
  t.teardown(() => keys.close())
  const limiter = createMemoryLimiter(clock)
  const failures = createBruteForceLimit(limiter, { limit: 10, windowSec: 60 }, clock.nowMs)
  const starts = createAuthorizeRateLimit(limiter, { limit: 300, windowSec: 60 })
  const feedWatch = createFeedWatch(store.feeds)
  t.teardown(() => feedWatch.close())
  const revocations = createRevocationFeed(store, feedWatch, clock)
  const reportKeysAway = (): void => undefined
  const deps: OAuthDeps = {
    options,
    store,
    clock,
    clients,
    keys,
    failures,
    starts,
    revocations,
    reportFetchFailure: reportKeysAway,
  }
  const authorize = createAuthorize(deps, createRequestObjects(deps, createClientKeyring(clock, reportKeysAway)))
  return {
    deps,
    authorize: request => authorize(request, parseParameters(request)),
    interaction: createInteraction(deps),
    advanceSec: seconds => {
      nowMs += seconds * 1000
    },
    redeem: (code, redirect_uri = callback) =>
      store.grants.redeem({
        grantId: parseGrantId(code) ?? '',
        codeDigest: keys.digest(code),
        codeProofs: [codeProof('demo', redirect_uri, challengeOf(verifier))],
        nowMs,
        untilMs: nowMs + 600_000,
      }),
  }
}

export type Parameters = Readonly<Record<string, string | undefined>>

/** A good authorization request; undefined removes a parameter. */
export const ask = (changes: Parameters = {}): string =>
  encode({
    response_type: 'code',
    client_id: 'demo',
    redirect_uri: callback,
    scope: 'accounts:read',
    state: 'a-state',
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    ...changes,
  })

export const encode = (parameters: Parameters): string =>
  Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
    .join('&')

const plain: OAuthRequest = {
  ...emptyRequest,
  method: 'GET',
  path: '/psd2/oauth2/authorize',
  contentType: undefined,
  accept: 'text/html',
}

export const get = (query: string, path = plain.path, cookie?: string): OAuthRequest => ({
  ...plain,
  path,
  query,
  cookie,
})

export const post = (body: string, path = plain.path, cookie?: string): OAuthRequest => ({
  ...plain,
  method: 'POST',
  path,
  body,
  cookie,
  contentType: 'application/x-www-form-urlencoded',
})

export const header = (reply: OAuthReply, name: string): string => {
  const value = reply.headers[name]
  return value === undefined ? '' : String(value)
}

/** Whether a reply is a page of the gateway without a redirect. */
export const isPage = (reply: OAuthReply, status: number): boolean =>
  reply.status === status && !reply.headers.location && /^text\/html/.test(header(reply, 'content-type'))

export const locationOf = (reply: OAuthReply): URL => new URL(header(reply, 'location'), 'http://sidegate.invalid')

/** The decoded parameters of a redirect to the client. */
export const answerOf = (reply: OAuthReply): Record<string, string> =>
  Object.fromEntries(locationOf(reply).searchParams)

/** A browser at the login page: it keeps its cookies and has the `csrf` of its last page. */
export interface Guest {
  readonly path: string
  /** The `Cookie` header that it would send now. */
  readonly cookie: string
  readonly csrf: string
  show(): Promise<OAuthReply>
  /** Submits the page's form with its `csrf` unless `fields` has another one, and follows a redirect to a page. */
  submit(fields: Parameters): Promise<OAuthReply>
  signIn(username?: string): Promise<OAuthReply>
}

export const enter = async (room: BrowserRoom, query = ask()): Promise<Guest> => {
  const begun = await room.authorize(get(query))
  const path = header(begun, 'location')
  const jar = createCookieJar()
  jar.take(begun.headers['set-cookie'])
  let csrf = ''
  const answer = async (request: OAuthRequest): Promise<OAuthReply> => {
    const reply = await room.interaction(request)
    jar.take(reply.headers['set-cookie'])
    csrf = /name="csrf" value="([^"]+)"/.exec(String(reply.body))?.[1] ?? csrf
    return reply
  }
  const show = (): Promise<OAuthReply> => answer(get('', path, jar.header()))
  const submit = async (fields: Parameters): Promise<OAuthReply> => {
    const reply = await answer(post(encode({ csrf, ...fields }), path, jar.header()))
    if (header(reply, 'location') === path) await show()
    return reply
  }
  await show()
  return {
    path,
    get cookie() {
      return jar.header()
    },
    get csrf() {
      return csrf
    },
    show,
    submit,
    signIn: (username = 'alice') => submit({ username, password }),
  }
}
