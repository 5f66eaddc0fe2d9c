import { systemClock } from '../clock.ts'
import { createAuthorizeRateLimit } from '../gateway/authn/authorize-rate-limit.ts'
import { type BruteForceLimit, createBruteForceLimit } from '../gateway/authn/brute-force-limit.ts'
import type { StreamRegistry } from '../gateway/forwarding/long-lived-streams.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import { publishOperations } from '../gateway/routing/built-in-operations.ts'
import type { FindOpenUpstream } from '../gateway/upstreams/open-upstreams.ts'
import type { SampleNewTrace } from '../http/peer/trace-context.ts'
import type { JoinedClients } from '../oauth/clients/joined-clients.ts'
import type { OAuthDeps } from '../oauth/deps.ts'
import { type AuthorizationServer, createAuthorizationServer } from '../oauth/index.ts'
import type { KeyRing } from '../oauth/keys/key-ring.ts'
import type { RevocationFeed } from '../oauth/tokens/revocation-feed.ts'
import type { Limiter } from '../stores/ports/limiter.ts'
import type { Store } from '../stores/ports/store.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Audit } from '../telemetry/audit.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { OnChange } from './audit-events.ts'
import type { StoredClientsSource } from './client-registry.ts'
import { deepEqual } from './deep-equal.ts'
import { findGenerationKeys } from './generation-keys.ts'
import type { LiveConfig, RestartOnlyConfig } from './restart-only-settings.ts'

/** The parts of a process that every reload keeps, with all their state. */
export interface ProcessScope {
  readonly fixed: RestartOnlyConfig
  readonly store: Store
  readonly limiter: Limiter
  readonly revocations: RevocationFeed
  readonly storedClients: StoredClientsSource
  readonly recorder: Recorder
  readonly log: Logger
  readonly accessLog: AccessLog
  readonly audit: Audit
  readonly onChange: OnChange
  readonly streams: StreamRegistry
  /** Asks the authorization server that serves when it is called. */
  readonly isTokenExpiredOrRevoked: AuthorizationServer['isTokenExpiredOrRevoked']
  /** Undefined: no traces are recorded. */
  readonly tracer: Tracer | undefined
  readonly sampleNewTrace: SampleNewTrace
}

/**
 * One configuration that is served. A reload creates the next generation; requests under way are finished by their own.
 */
export interface Generation {
  readonly config: LiveConfig
  readonly gateway: Gateway
  readonly failures: BruteForceLimit
  readonly oauth: OAuthDeps
  readonly authorizationServer: AuthorizationServer
  /** @param next the current generation, which keeps the parts that it has taken over */
  close(next?: Generation): Promise<void>
}

/**
 * Builds a generation for a configuration.
 * @param before the current generation: its keys, upstreams and failure counts are taken over if their options are the
 * same
 * @throws Error one line for a person
 * @throws StoreUnavailableError if a reload needs other keys and the store does not answer
 */
export const createGeneration = async (
  config: LiveConfig,
  scope: ProcessScope,
  before?: Generation,
): Promise<Generation> => {
  const keys = await findGenerationKeys(config.oauth, scope, before?.oauth)
  const clients = scope.storedClients.join(config, scope.fixed)
  try {
    return build(config, scope, { keys, clients }, before)
  } catch (error) {
    // Otherwise both would poll the store for as long as the process runs.
    clients.close()
    if (keys !== before?.oauth.keys) keys.close()
    throw error
  }
}

/** The parts of a generation that poll the store. */
interface StoreSubscriptions {
  readonly keys: KeyRing
  readonly clients: JoinedClients
}

const build = (
  config: LiveConfig,
  scope: ProcessScope,
  { keys, clients }: StoreSubscriptions,
  before: Generation | undefined,
): Generation => {
  const { fixed, store, limiter, revocations, log } = scope
  const failures =
    before && deepEqual(before.config.loginFailures, config.loginFailures)
      ? before.failures
      : createBruteForceLimit(limiter, config.loginFailures, systemClock.monotonicMs)
  const oauth: OAuthDeps = {
    options: config.oauth,
    store,
    clock: systemClock,
    clients,
    keys,
    failures,
    starts: createAuthorizeRateLimit(limiter, config.loginStarts),
    revocations,
    reportFetchFailure: reportKeysAway(log),
  }
  const authorizationServer = createAuthorizationServer(oauth)
  const gateway = createGateway(
    {
      operations: publishOperations(config.operations, config.oauth),
      upstreams: config.upstreams,
      plans: config.plans,
      rateLimitHeaders: config.rateLimitHeaders,
      trustedProxies: config.trustedProxies,
      clientCertificates: {
        clientAuth: fixed.tls?.clientAuth ?? 'off',
        hasClientCa: fixed.tls?.clientCaFile !== undefined,
        header: config.clientCertificateHeader,
      },
      loginFailures: config.loginFailures,
      audit: config.audit,
    },
    {
      ...scope,
      caller: {
        authorizationServer,
        findClient: client_id => clients.find(client_id),
        issuer: config.issuer,
        failures,
      },
    },
    upstreamsOf(before),
  )
  return {
    config,
    gateway,
    failures,
    oauth,
    authorizationServer,
    async close(next) {
      clients.close()
      if (next?.oauth.keys !== keys) keys.close()
      await gateway.close()
    },
  }
}

/** An upstream keeps its health, its connections and its requests under way if its options have not changed. */
const upstreamsOf =
  (before: Generation | undefined): FindOpenUpstream =>
  options => {
    const upstream = before?.gateway.upstreams.get(options.name)
    return upstream && deepEqual(upstream.options, options) ? upstream : undefined
  }

const reportKeysAway =
  (log: Logger): OAuthDeps['reportFetchFailure'] =>
  (host, reason) =>
    log.warn(
      { event: 'client_keys_unavailable', host, reason },
      'the keys of a client cannot be fetched from its jwks_uri',
    )
