import type { ForwardAuthProxy, ForwardedForm, IdentityForm } from './options.ts'

/** The methods that operations may have. */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** One published operation: a method and a path of an API grouping, and how its requests are handled. */
export interface Operation {
  /** Name of the API grouping. */
  readonly grouping: string
  /** Version of the API grouping. */
  readonly version: string
  /**
   * One of `methods`, or `*` for all of them: a proxy may send a forward-auth request with the method of the original
   * request.
   */
  readonly method: string
  /**
   * Full path from the origin, base path included. `*` matches one segment, a final `**` the rest, which may be empty.
   */
  readonly path: string
  /** Other full paths of the same operation. */
  readonly aliases: readonly string[]
  readonly credentials: Credentials
  /** The scopes that the access token must have, all of them. Empty: any valid token. */
  readonly scopes: readonly string[]
  readonly plan: OperationPlan
  readonly target: Target
}

/** `client`: the caller's own plan. `none`: not limited. Or the plan of this name, for callers without a client. */
export type OperationPlan = 'client' | 'none' | { readonly name: string }

export const credentialKinds = ['bearer', 'client', 'query', 'none'] as const
export type Credentials = (typeof credentialKinds)[number]

/** The operations that Sidegate can serve itself. */
export const served = ['token', 'introspect', 'revoke', 'par', 'authorize', 'metadata', 'discovery', 'jwks'] as const
export type Served = (typeof served)[number]

export type Target =
  /**
   * The gateway itself publishes two of these: `interaction`, the login pages, if there is an `authorize` operation,
   * and `resource-metadata` (RFC 9728) for every grouping that forwards.
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
      /** Which fields tell the upstream how the request reached the gateway. */
      readonly forwardedHeader: ForwardedForm
      /** A prefix that is removed from the path before it goes upstream. Empty: the path is not changed. */
      readonly stripPrefix: string
      readonly forwardAuthorization: boolean
      /** Further header fields of the client that do not go upstream, as `plainName` writes them. */
      readonly dropHeaders: readonly string[]
      /** Most bytes of a request's body. More is 413. */
      readonly maxBodyBytes: number
    } & GuardedService)
  /**
   * Another proxy forwards its requests after it has asked here (forward auth). A request that comes here itself gets
   * 404.
   */
  | ({ readonly kind: 'elsewhere' } & GuardedService)
  /** Where that proxy sends its forward-auth requests. */
  | { readonly kind: 'check'; readonly gateway: ForwardAuthProxy }

/** A service that only authorized requests may reach. */
export interface GuardedService extends GuardedResource {
  /** How the service learns the identity of the caller. */
  readonly identity: IdentityForm
}

/** The resource that an access token must be valid for. */
export interface GuardedResource {
  /** The value that a token's `aud` must contain if it does not contain the issuer (RFC 8707). */
  readonly resource: string
  /** Absolute URL of the resource's metadata (RFC 9728) for its 401 responses. Left out: it has no metadata. */
  readonly metadataUrl?: string
}

/** The label of metrics and of the plan's `operations`: method and configured path. */
export const operationLabel = (operation: Pick<Operation, 'method' | 'path'>): string =>
  `${operation.method} ${operation.path}`
