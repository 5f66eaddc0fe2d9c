import { auditCutoffs, type OnChange } from './app/audit-events.ts'
import { followStoredClients } from './app/client-registry.ts'
import { createGeneration, type ProcessScope } from './app/config-generation.ts'
import { createGenerations } from './app/generations.ts'
import { privateOptions } from './app/primary.ts'
import { followRemovedGroupings } from './app/removed-groupings.ts'
import type { LiveConfig, RestartOnlyConfig } from './app/restart-only-settings.ts'
import { followStoreCertificates } from './app/store-certificate-metrics.ts'
import { createStoreObserver } from './app/store-metrics.ts'
import { reportCertificates } from './app/tls-observer.ts'
import { findTracer, newTraceSampler } from './app/tracer.ts'
import { systemClock } from './clock.ts'
import type { SidegateConfig } from './config/load.ts'
import { createStreamRegistry } from './gateway/forwarding/long-lived-streams.ts'
import { openPrivateListener, type PrivateListener } from './gateway/login-api/listener.ts'
import { createHttpServer, type HttpServer } from './http/server/http-server.ts'
import type { HttpServerOptions } from './http/server/options.ts'
import { openTls, type TlsReport } from './http/tls/tls.ts'
import { createFeedWatch } from './oauth/feed-watch.ts'
import { createRevocationFeed, type RevocationFeed } from './oauth/tokens/revocation-feed.ts'
import { evenShareOf } from './share.ts'
import { instrumentStore } from './stores/instrumented-store.ts'
import { createLimiter, type LimiterChannel, type WorkerShare } from './stores/limiter.ts'
import { openStore } from './stores/open.ts'
import type { Limiter } from './stores/ports/limiter.ts'
import type { Revocation } from './stores/ports/revocations.ts'
import type { AccessLog } from './telemetry/access-log.ts'
import type { Audit } from './telemetry/audit.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Recorder } from './telemetry/recorder.ts'

export interface AppDeps {
  readonly log: Logger
  readonly accessLog: AccessLog
  /** Writes this process's audit lines. */
  readonly audit: Audit
  readonly recorder: Recorder
  /** The channel to the process that counts for all workers of the machine; used with the embedded store. */
  readonly limiterChannel: LimiterChannel
  /** This worker's share of each plan, which applies while the shared count does not answer. */
  readonly share: () => WorkerShare
  /** Called when the store or the limiter stops answering, again for each new reason, and when it answers again. */
  readonly onStoreState: (what: 'store' | 'limiter', up: boolean, reason: string | undefined) => void
  readonly onChange: OnChange
  /** Called for each revocation that this process makes, so that the other workers of the machine learn of it. */
  readonly onRevoked: (revocation: Revocation) => void
  /** Called if changed certificate files cannot be used; every process finds the same. */
  readonly onCertificateRefused: TlsReport['refused']
}

export type { SidegateConfig } from './config/load.ts'
export type { HttpServer } from './http/server/http-server.ts'
export type { ClientPart, ClientSnapshot } from './oauth/clients/client-snapshot.ts'
export { type ClientIntake, createClientIntake } from './oauth/clients/configured-clients.ts'
export type { WorkerShare } from './stores/limiter.ts'
export type { BatchedCharge, BatchedVerdict } from './stores/limits/batching/shared-limiter.ts'
export type { Revocation } from './stores/ports/revocations.ts'

/** The gateway of one process, built from the configuration. It does not listen yet. */
export interface App {
  readonly traffic: HttpServer
  /** The listener for the operator's own login application; undefined if users sign in on Sidegate's pages. */
  readonly privateListener: PrivateListener | undefined
  /**
   * Builds everything that another configuration needs, while the current one is served.
   * @throws Error one line for a person, if the configuration cannot be served
   */
  prepare(config: LiveConfig): Promise<Prepared>
  /** Learns the revocations of another worker of the machine, so that this process refuses the revoked tokens. */
  readonly learnRevocations: RevocationFeed['add']
  /** From now on every response ends its connection, so that clients connect to another process. */
  startDraining(): void
  /** Ends WebSockets and event streams, and from now on each new one. Other requests under way are finished. */
  closeEndless(): void
  /** The number of requests and WebSockets that are being answered now. */
  inFlight(): number
  close(): Promise<void>
}

/** A configuration that can be served. */
export interface Prepared {
  /** Serves it: every request from now on. The requests under way are finished under the configuration before. */
  adopt(): void
  discard(): Promise<void>
}

/** The composition root: it chooses the adapters and passes each room its options. */
export const createApp = async (config: SidegateConfig, deps: AppDeps): Promise<App> => {
  const store = instrumentStore(await openStore(config.store, systemClock), createStoreObserver(config.store, deps))
  const limiter = await openLimiter(config, deps)
  const feedWatch = createFeedWatch(store.feeds)
  const revocations = createRevocationFeed(store, feedWatch, systemClock, {
    onCutoff: auditCutoffs(deps.onChange),
    onRevoked: deps.onRevoked,
  })
  const tracer = await findTracer(process.env, deps)
  const sampleNewTrace = newTraceSampler(process.env)
  const streams = createStreamRegistry()
  const storedClients = await followStoredClients(store.clients, feedWatch, deps)
  const scope: ProcessScope = {
    ...deps,
    fixed: config,
    store,
    limiter,
    revocations,
    storedClients,
    streams,
    isTokenExpiredOrRevoked: (token, record) =>
      generations.current().authorizationServer.isTokenExpiredOrRevoked(token, record),
    tracer,
    sampleNewTrace,
  }
  const generations = createGenerations(await createGeneration(config, scope))
  const tls = config.tls && (await openTls(config.tls, reportCertificates('listener', deps)))
  const storeCertificates = followStoreCertificates(config.store, deps.recorder)
  const removedGroupings = followRemovedGroupings({
    config: () => generations.current().config,
    drop: deps.recorder.forget,
    clock: systemClock,
  })
  const internal = privateOptions(config)
  const { oauth } = generations.current()
  const certificates = reportCertificates('internal', deps)
  const privateListener = internal && (await openPrivateListener(internal, { ...deps, oauth, certificates }))
  return {
    traffic: createHttpServer(ownLimits(config), generations.handlers, tls),
    privateListener,
    async prepare(next) {
      const before = generations.current()
      const serving = await createGeneration(next, scope, before)
      return {
        adopt() {
          generations.replace(serving)
          privateListener?.serve(serving.oauth)
        },
        discard: () => serving.close(before),
      }
    },
    learnRevocations: revocations.add,
    startDraining() {
      privateListener?.startDraining()
      generations.startDraining()
    },
    closeEndless: streams.closeAll,
    inFlight: generations.inFlight,
    async close() {
      tls?.close()
      privateListener?.close()
      storeCertificates.close()
      removedGroupings.close()
      revocations.close()
      storedClients.close()
      feedWatch.close()
      await generations.close()
      await Promise.all([limiter.close(), store.close(), tracer?.close()])
    },
  }
}

/** A limiter reports only failures, so this reports that it is available at the start. */
const openLimiter = async ({ store }: SidegateConfig, deps: AppDeps): Promise<Limiter> => {
  let hasSpoken = false
  const limiter = await createLimiter(store, {
    channel: deps.limiterChannel,
    share: deps.share,
    onStateChange: (up, error) => {
      hasSpoken = true
      deps.onStoreState('limiter', up, error?.message)
    },
  })
  if (!hasSpoken) deps.onStoreState('limiter', true, undefined)
  return limiter
}

/** Each worker accepts its share of the connections. The other limits apply to each request. */
const ownLimits = ({ requests, workers }: RestartOnlyConfig): HttpServerOptions => ({
  ...requests,
  maxConnections: evenShareOf(requests.maxConnections, workers),
})
