import type { Operation, Served } from '../gateway/operation.ts'
import type { ClientRegistration, ClientSecret, Endpoint, LoginOptions, OAuthOptions, User } from '../oauth/options.ts'
import { certificateWays } from './certificate-ways.ts'
import type { ClientDraft, Draft, LoginDraft, UserDraft } from './draft.ts'
import { toResources } from './resolve-resources.ts'

/** How long a person may take from the authorization request to the decision. */
const interactionLifetimeSec = 900

/** What the authorization server is told. */
export const resolveOAuth = (draft: Draft, issuer: string, operations: readonly Operation[]): OAuthOptions => {
  const { profile, tokens, keys } = draft.head.value
  const { accessToken, refreshToken, code, par, dpop } = tokens
  const [onlyPlan = ''] = draft.planNames
  return {
    issuer,
    profile,
    clients: draft.clients.map(({ value }) => toClient(value, onlyPlan)),
    accessToken: { format: accessToken.format, lifetimeSec: accessToken.lifetime, alg: accessToken.alg },
    refreshToken: { lifetimeSec: refreshToken.lifetime, reuseWindowSec: refreshToken.reuseWindow },
    code: { lifetimeSec: code.lifetime },
    par: { lifetimeSec: par.lifetime },
    dpop,
    keys: { rotateEverySec: keys.rotateEvery, ...(keys.jwks && { jwks: keys.jwks.text }) },
    login: toLogin(draft.login.value),
    resources: toResources(draft, issuer),
    takesClientCertificates: certificateWays(draft.head.value).length > 0,
    users: draft.users.flatMap(({ value }) => toUser(value)),
    interactionLifetimeSec,
    endpoints: toEndpoints(issuer, operations),
  }
}

const toClient = (client: ClientDraft, onlyPlan: string): ClientRegistration => {
  const secret = toSecret(client)
  return {
    client_id: client.client_id,
    client_name: client.client_name ?? client.client_id,
    profile: 'none',
    secrets: secret ? [secret] : [],
    assertion_audience: 'issuer',
    tls_client_certificate_bound_access_tokens: false,
    dpop_bound_access_tokens: false,
    require_pushed_authorization_requests: false,
    require_signed_request_object: false,
    introspection_signed_response_alg: 'ES256',
    access_token_signed_response_alg: 'ES256',
    browser: 'same',
    grant_types: [...new Set(client.grant_types)],
    redirect_uris: client.redirect_uris,
    scope: client.scope,
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    application_type: client.application_type,
    pkce: client.pkce,
    introspects: client.introspects,
    plan: client.plan ?? onlyPlan,
  }
}

const toSecret = ({ client_secret, client_secret_hash }: ClientDraft): ClientSecret | undefined => {
  if (client_secret) return { kind: 'plain', value: client_secret }
  return client_secret_hash && { kind: 'hash', value: client_secret_hash }
}

const toUser = ({ username, password_hash, sub }: UserDraft): readonly User[] =>
  password_hash ? [{ username, password_hash, ...(sub !== undefined && { sub }) }] : []

const endpoints = ['token', 'introspect', 'revoke', 'authorize', 'par', 'jwks'] as const satisfies readonly (Endpoint &
  Served)[]

const toLogin = ({ mode, url = '' }: LoginDraft): LoginOptions => (mode === 'handoff' ? { mode, url } : { mode })

/** RFC 8414 section 2 has room for one URL each: the advertised operation, or the first of the configuration. */
const toEndpoints = (issuer: string, operations: readonly Operation[]): OAuthOptions['endpoints'] => {
  const { origin } = new URL(issuer)
  return Object.fromEntries(
    endpoints.flatMap(endpoint => {
      const serving = operations.filter(({ target }) => target.kind === 'serve' && target.serves === endpoint)
      const chosen = serving.find(({ target }) => target.kind === 'serve' && target.advertise) ?? serving[0]
      return chosen ? [[endpoint, origin + chosen.path]] : []
    }),
  )
}
