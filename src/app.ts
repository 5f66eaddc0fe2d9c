import { privateOptions } from './app/private-options.ts'
import { systemClock } from './clock.ts'
import type { SidegateConfig } from './config/load.ts'
import { createFailureLimit } from './gateway/callers/failure-limit.ts'
import { createStartLimit } from './gateway/callers/start-limit.ts'
import { createGateway, type Gateway } from './gateway/gateway.ts'
import { openPrivateListener, type PrivateListener } from './gateway/internal/private-listener.ts'
import { publishOperations } from './gateway/routing/published-operations.ts'
import { openTls, type TlsReport } from './http/tls.ts'
import { createTrafficServer, type TrafficServer } from './http/traffic-server.ts'
import { createClients } from './oauth/clients/clients.ts'
import type { OAuthDeps } from './oauth/deps.ts'
import { createAuthorizationServer } from './oauth/index.ts'
import { openKeyRing } from './oauth/keys/key-ring.ts'
import { createLimiter, type LimiterChannel, type Share } from './stores/limiter.ts'
import { observeStore, type StoreObserver } from './stores/observed.ts'
import { openStore } from './stores/open.ts'
import type { AccessLog } from './telemetry/access-log.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Recorder } from './telemetry/recorder.ts'

export interface AppDeps {
  readonly log: Logger
  readonly accessLog: AccessLog
  readonly recorder: Recorder
  /** To the process that counts for all workers of the machine; used with the embedded store. */
  readonly limiterChannel: LimiterChannel
  /** Which share of a plan this process holds while the shared count is away. */
  readonly share: () => Share
  /** Told when the store or the limiter stops answering, and when it answers again. */
  readonly onStoreState: (what: 'store' | 'limiter', up: boolean, reason: string | undefined) => void
  /** Told of certificate files that cannot be renewed to; every process finds the same. */
  readonly onCertificateRefused: TlsReport['refused']
}

export type { SidegateConfig } from './config/load.ts'
export type { Share } from './stores/limiter.ts'
export type { BatchedCharge, BatchedVerdict } from './stores/limits/shared-limiter.ts'

/** One process's gateway: built from the configuration, not listening yet. */
export interface App {
  readonly server: TrafficServer
  readonly gateway: Gateway
  /** For the operator's own login; undefined where people sign in on our pages. */
  readonly privateListener: PrivateListener | undefined
  close(): Promise<void>
}

/** The one place where the rooms meet: it names adapters and hands every room its options. */
export const createApp = async (config: SidegateConfig, deps: AppDeps): Promise<App> => {
  const observer = storeObserver(config, deps)
  const store = observeStore(await openStore(config.store, systemClock), observer)
  const keys = await openKeyRing(store.keys, systemClock, config.oauth)
  const limiter = await createLimiter(config.store, {
    channel: deps.limiterChannel,
    share: deps.share,
    onStateChange: (up, error) => deps.onStoreState('limiter', up, error?.message),
  })
  const failures = createFailureLimit(limiter, config.loginFailures, () => systemClock.nowMs())
  const starts = createStartLimit(limiter, config.loginStarts)
  const clients = createClients(config.oauth.clients)
  const oauth: OAuthDeps = {
    options: config.oauth,
    store,
    clock: systemClock,
    clients,
    keys,
    failures,
    starts,
    reportKeysAway: reportKeysAway(deps.log),
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
        clientAuth: config.tls?.clientAuth ?? 'off',
        hasClientCa: config.tls?.clientCaFile !== undefined,
        header: config.clientCertificateHeader,
      },
      loginFailures: config.loginFailures,
    },
    {
      caller: {
        authorizationServer,
        findClient: client_id => clients.find(client_id),
        issuer: config.issuer,
        failures,
      },
      limiter,
      recorder: deps.recorder,
      log: deps.log,
      accessLog: deps.accessLog,
    },
  )
  const certificates = reportOn(deps)
  const tls = config.tls && (await openTls(config.tls, certificates))
  const internal = privateOptions(config)
  const privateListener = internal && (await openPrivateListener(internal, { ...deps, oauth, certificates }))
  return {
    server: createTrafficServer(config.requests, gateway.handlers, tls),
    gateway,
    privateListener,
    async close() {
      tls?.close()
      privateListener?.close()
      authorizationServer.close()
      keys.close()
      await Promise.all([gateway.close(), limiter.close(), store.close()])
    },
  }
}

/** What becomes of the certificates of a listener while it runs. */
const reportOn = ({ log, onCertificateRefused }: AppDeps): TlsReport => ({
  renewed: validTo =>
    log.info(
      { event: 'certificate_renewed', valid_to: validTo.toISOString() },
      'new connections get a new certificate',
    ),
  refused: onCertificateRefused,
})

const reportKeysAway =
  (log: Logger): OAuthDeps['reportKeysAway'] =>
  (host, reason) =>
    log.warn(
      { event: 'client_keys_unavailable', host, reason },
      'the keys of a client cannot be fetched from its jwks_uri',
    )

const storeObserver = (config: SidegateConfig, { recorder, onStoreState }: AppDeps): StoreObserver => {
  const { kind } = config.store
  const up = recorder.gauge('storeUp', [kind])
  let wasUp: boolean | undefined
  up.set(1)
  return {
    answered: (operation, durationMs) =>
      recorder.histogram('storeDuration', [kind, operation]).observe(durationMs / 1000),
    state(isUp, reason) {
      if (isUp === wasUp) return
      wasUp = isUp
      up.set(isUp ? 1 : 0)
      onStoreState('store', isUp, reason)
    },
  }
}
