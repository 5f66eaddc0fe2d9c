/**
 * Gateways that forward by themselves and ask here first whether they may: nginx by `auth_request`, Envoy by `ext_authz` over
 * HTTP, Traefik by `ForwardAuth`, Caddy by `forward_auth`.
 */
export const trustedProxiesOf = ['nginx', 'envoy', 'traefik', 'caddy'] as const

export type AskingGateway = (typeof trustedProxiesOf)[number]
