import type { ForwardAuthProxy, ForwardedForm, IdentityForm } from './options.ts'

/** What operations are published for. */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** One published operation: a method and a path of an API grouping, and what happens behind it. */
export interface Operation {
  /** Name of the API grouping. */
  readonly grouping: string
  /** Version of the API grouping. */
  readonly version: string
  /** One of `methods`, or `*` for any of them: a gateway may ask with the method of the request that it asks about. */
  readonly method: string
  /** Full path from the origin, base path included; `*` is one segment, a final `**` the rest (possibly nothing). */
  readonly path: string
  /** Other full paths that are the same operation. */
  readonly aliases: readonly string[]
  readonly credentials: Credentials
  /** What the access token must carry, all of them. Empty: any valid token. */
  readonly scopes: readonly string[]
  readonly plan: OperationPlan
  readonly target: Target
}

/** `client`: the caller's own plan. `none`: not limited. Or the plan of this name, for callers who show nobody's. */
export type OperationPlan = 'client' | 'none' | { readonly name: string }

export const credentialKinds = ['bearer', 'client', 'query', 'none'] as const
export type Credentials = (typeof credentialKinds)[number]

/** What Sidegate can serve itself. */
export const served = ['token', 'introspect', 'revoke', 'par', 'authorize', 'metadata', 'discovery', 'jwks'] as const
export type Served = (typeof served)[number]

export type Target =
  /**
   * Two are published by the gateway itself: `interaction`, the login pages, wherever `authorize` is, and
   * `resource-metadata` (RFC 9728) for every grouping that forwards.
   */
  | {
      readonly kind: 'serve'
      readonly serves: Served | 'interaction' | 'resource-metadata'
      readonly advertise: boolean
    }
  | ({
      readonly kind: 'forward'
      /** Name of the upstream. */
      readonly upstream: string
      /** How it is told by which way a request came. */
      readonly forwardedHeader: ForwardedForm
      /** Removed from the path before it goes upstream; empty: the path goes as it came. */
      readonly stripPrefix: string
      readonly forwardAuthorization: boolean
      /** Further header fields of the client that do not go upstream, as `plainName` writes them. */
      readonly dropHeaders: readonly string[]
      /** Most bytes of a request's body; more is 413. */
      readonly maxBodyBytes: number
    } & GuardedService)
  /** Another gateway forwards it, once it has asked here whether it may. Who comes here for it finds nothing. */
  | ({ readonly kind: 'elsewhere' } & GuardedService)
  /** Where that gateway asks. */
  | { readonly kind: 'check'; readonly gateway: ForwardAuthProxy }

/** A service that only those may ask who have been let in. */
export interface GuardedService extends GuardedResource {
  /** How it is told who is calling. */
  readonly identity: IdentityForm
}

/** What access tokens must be good for. */
export interface GuardedResource {
  /** What a token's `aud` must contain, beside the issuer (RFC 8707). */
  readonly resource: string
  /** Absolute URL of the resource's metadata (RFC 9728), for its 401s; left out: it has none. */
  readonly metadataUrl?: string
}

/** The label of metrics and of the plan's `operations`: method and configured path. */
export const operationLabel = (operation: Pick<Operation, 'method' | 'path'>): string =>
  `${operation.method} ${operation.path}`
