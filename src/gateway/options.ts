/**
 * The values that settings of the gateway may have, for the configuration and for operations. This file imports no
 * other file of the room.
 */

/** The scopes of the audit log. The configuration may import this room, but not `telemetry`. */
export { type AuditScope, auditScopes } from '../telemetry/audit-actions.ts'

/**
 * Proxies that ask before they forward a request themselves (forward auth): nginx with `auth_request`, Envoy with
 * `ext_authz` over HTTP, Traefik with `ForwardAuth`, Caddy with `forward_auth`.
 */
export const forwardAuthProxies = ['nginx', 'envoy', 'traefik', 'caddy'] as const
export type ForwardAuthProxy = (typeof forwardAuthProxies)[number]

/** Which header fields tell the upstream the path of a request: `X-Forwarded-*`, `Forwarded` (RFC 7239), or both. */
export const forwardedForms = ['x-forwarded', 'forwarded', 'both'] as const
export type ForwardedForm = (typeof forwardedForms)[number]

/**
 * How the upstream learns the identity of the caller: from `X-Sidegate-*` headers, a signed `X-Sidegate-Assertion`, or
 * both.
 */
export const identityForms = ['headers', 'assertion', 'both'] as const
export type IdentityForm = (typeof identityForms)[number]
