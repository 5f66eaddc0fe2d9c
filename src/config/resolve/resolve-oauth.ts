import type { Operation, Served } from '../../gateway/operation.ts'
import type { Endpoint, LoginOptions, OAuthOptions, User } from '../../oauth/options.ts'
import type { ParsedConfig, ParsedLogin, ParsedUser } from '../parse/parsed-config.ts'
import { usableMemoryBytes } from '../values/machine.ts'
import { certificateSources } from './client-certificate-sources.ts'
import { resolveClients } from './resolve-client.ts'
import { toResources } from './resolve-resources.ts'

/** How long a user may take from the authorization request to the decision. */
const interactionLifetimeSec = 900

/** Default time for which a key signs. */
const defaultRotationSec = 30 * 86_400

/** The options of the authorization server. */
export const resolveOAuth = (parsed: ParsedConfig, issuer: string, operations: readonly Operation[]): OAuthOptions => {
  const { profile, scopes, tokens, keys } = parsed.topLevel.value
  const { accessToken, refreshToken, code, par, dpop } = tokens
  const { origin } = new URL(issuer)
  return {
    issuer,
    profile,
    clients: resolveClients(parsed),
    scopeTexts: new Map(Object.entries(scopes)),
    accessToken: { format: accessToken.format, lifetimeSec: accessToken.lifetime, alg: accessToken.alg },
    refreshToken: { lifetimeSec: refreshToken.lifetime, reuseWindowSec: refreshToken.reuseWindow },
    code: { lifetimeSec: code.lifetime },
    par: { lifetimeSec: par.lifetime },
    dpop,
    keys: { rotateEverySec: keys.rotateEvery ?? defaultRotationSec, ...(keys.jwks && { jwks: keys.jwks.text }) },
    login: toLogin(parsed.login.value),
    resources: toResources(parsed, origin),
    takesClientCertificates: certificateSources(parsed.topLevel.value).length > 0,
    users: parsed.users.flatMap(({ value }) => toUser(value)),
    interactionLifetimeSec,
    maxInteractions: resolveMaxInteractions(parsed.login.value),
    endpoints: toEndpoints(origin, operations),
  }
}

/** An interaction takes about 1 KiB in Redis, and 0.7 KiB in a SQLite file (`test/load/growth.ts`). */
const interactionBytes = 1024
/** The part of this process's memory that the maximum number of interactions may take. */
const memoryShare = 1 / 16
const leastInteractions = 10_000

const resolveMaxInteractions = ({ maxInteractions }: ParsedLogin): number =>
  maxInteractions === 'auto'
    ? Math.max(leastInteractions, Math.floor((usableMemoryBytes() * memoryShare) / interactionBytes))
    : maxInteractions

const toUser = ({ username, password_hash, sub }: ParsedUser): readonly User[] =>
  password_hash ? [{ username, password_hash, ...(sub !== undefined && { sub }) }] : []

const endpoints = ['token', 'introspect', 'revoke', 'authorize', 'par', 'jwks'] as const satisfies readonly (Endpoint &
  Served)[]

const toLogin = ({ mode, url = '' }: ParsedLogin): LoginOptions => (mode === 'handoff' ? { mode, url } : { mode })

/**
 * RFC 8414 section 2 has one URL for each endpoint: that of the advertised operation, or of the first one in the
 * configuration.
 */
const toEndpoints = (origin: string, operations: readonly Operation[]): OAuthOptions['endpoints'] =>
  Object.fromEntries(
    endpoints.flatMap(endpoint => {
      const serving = operations.filter(({ target }) => target.kind === 'serve' && target.serves === endpoint)
      const chosen = serving.find(({ target }) => target.kind === 'serve' && target.advertise) ?? serving[0]
      return chosen ? [[endpoint, origin + chosen.path]] : []
    }),
  )
