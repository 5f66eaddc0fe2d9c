import { deepFreeze } from '../../deep-freeze.ts'
import type { Operation, Target } from '../../gateway/operation.ts'
import { plainName } from '../../http/server/field-kinds.ts'
import type { HttpServerOptions } from '../../http/server/options.ts'
import type { ClientAuth, TlsOptions } from '../../http/tls/tls-options.ts'
import type { Plan } from '../../plans/plan.ts'
import type { GroupedOperation, Named, ParsedConfig, ParsedPlan, ParsedTopLevel } from '../parse/parsed-config.ts'
import type { InternalOptions, SidegateConfig } from '../sidegate-config.ts'
import { issuerOf } from '../values/issuer.ts'
import { usableCpus } from '../values/machine.ts'
import { noUpstream, toOperationView } from './effective-operation.ts'
import { resolveOAuth } from './resolve-oauth.ts'
import { findMetadataPath, resourceOf } from './resolve-resources.ts'
import { toUpstream } from './resolve-upstream.ts'

/** Converts a valid parsed configuration to the options of the rooms. */
export const resolveConfig = (parsed: ParsedConfig): SidegateConfig => {
  const { value: topLevel } = parsed.topLevel
  const issuer = issuerOf(topLevel)
  const { origin } = new URL(issuer)
  const operations = parsed.operations.map(operation => toOperation(operation, origin, topLevel))
  const workers = resolveWorkers(topLevel)
  return deepFreeze({
    issuer,
    listen: topLevel.listen,
    ...(topLevel.tls && { tls: toTls(topLevel.tls, topLevel.tls.clientAuth) }),
    admin: topLevel.admin,
    requests: toHttpServerOptions(topLevel.requests),
    workers,
    pods: topLevel.pods,
    store: topLevel.store,
    workerTimeoutMs: topLevel.workerTimeout,
    trustedProxies: topLevel.trustedProxies,
    clientCertificateHeader: topLevel.clientCertificateHeader,
    ...(topLevel.internal && { internal: toInternal(topLevel.internal) }),
    product: topLevel.product,
    rateLimitHeaders: topLevel.rateLimitHeaders,
    plans: Object.fromEntries(parsed.plans.map(plan => [plan.name, toPlan(plan)])),
    operations,
    groupings: parsed.groupings.map(({ value }) => ({ name: value.name, version: value.version })),
    upstreams: parsed.upstreams.map(upstream => toUpstream(upstream, workers)),
    oauth: resolveOAuth(parsed, issuer, operations),
    loginFailures: parsed.login.value.failures,
    loginStarts: parsed.login.value.starts,
    audit: topLevel.logs.audit,
    shutdown: { delayMs: topLevel.shutdown.delay, timeoutMs: topLevel.shutdown.timeout },
  })
}

const toHttpServerOptions = (requests: ParsedTopLevel['requests']): HttpServerOptions => ({
  headersTimeoutMs: requests.headerTimeout,
  requestTimeoutMs: requests.timeout,
  keepAliveTimeoutMs: requests.keepAlive,
  sendTimeoutMs: requests.sendTimeout,
  maxHeaderBytes: requests.maxHeader,
  maxHeaderFields: requests.maxFields,
  maxConnections: requests.maxConnections,
})

type TlsDraft = NonNullable<NonNullable<ParsedTopLevel['internal']>['tls']>

const toTls = ({ cert_file, key_file, clientCa_file }: TlsDraft, clientAuth: ClientAuth): TlsOptions => ({
  certFile: cert_file,
  keyFile: key_file,
  ...(clientCa_file !== undefined && { clientCaFile: clientCa_file }),
  clientAuth,
})

const toInternal = ({ listen, tls, jwks }: NonNullable<ParsedTopLevel['internal']>): InternalOptions => {
  // If a JWT is accepted too, a connection without certificate must be possible.
  const clientAuth = jwks ? 'optional' : 'required'
  return {
    listen,
    ...(tls && { tls: toTls(tls, tls.clientCa_file === undefined ? 'off' : clientAuth) }),
    ...(jwks && { jwks }),
  }
}

/** The memory store belongs to one process. */
const resolveWorkers = ({ workers, store }: ParsedTopLevel): number => {
  if (workers !== 'auto') return workers
  return store.kind === 'memory' ? 1 : usableCpus()
}

const toPlan = ({ name, value }: Named<ParsedPlan>): Plan => ({
  name,
  title: value.title ?? name,
  rate: value.rate,
  algorithm: value.algorithm,
  burst: typeof value.burst === 'number' ? value.burst : undefined,
  burstLimit: typeof value.burst === 'object' ? value.burst : undefined,
  quota: value.quota,
  mode: value.mode,
  per: value.per,
  whenStoreFails: value.whenStoreFails,
  operations: value.operations,
})

const toOperation = (operation: GroupedOperation, origin: string, topLevel: ParsedTopLevel): Operation => {
  const { method, path, aliases, credentials, plan } = toOperationView(operation)
  return {
    grouping: operation.grouping.value.name,
    version: operation.grouping.value.version,
    method,
    path,
    aliases,
    credentials,
    scopes: operation.value.scopes,
    plan,
    target: toTarget(operation, origin, topLevel),
  }
}

const toTarget = (operation: GroupedOperation, origin: string, topLevel: ParsedTopLevel): Target => {
  const { value, grouping } = operation
  const { serves, upstream = '' } = toOperationView(operation)
  if (value.gateway) return { kind: 'check', gateway: value.gateway }
  if (serves && serves !== 'check') return { kind: 'serve', serves, advertise: value.advertise }
  const { basePath, stripBasePath } = grouping.value
  const resource = resourceOf(grouping.value, origin)
  const metadataPath = findMetadataPath(resource, origin)
  const guarded = {
    resource,
    identity: grouping.value.identity,
    ...(metadataPath !== undefined && { metadataUrl: origin + metadataPath }),
  }
  if (upstream === noUpstream) return { kind: 'elsewhere', ...guarded }
  return {
    kind: 'forward',
    upstream,
    forwardedHeader: topLevel.forwardedHeader,
    stripPrefix: stripBasePath ? basePath : '',
    forwardAuthorization: value.forwardAuthorization,
    dropHeaders: grouping.value.dropHeaders.map(plainName),
    maxBodyBytes: value.maxBody ?? grouping.value.maxBody,
    ...guarded,
  }
}
