/**
 * Gateways that forward by themselves and ask here first whether they may: nginx by `auth_request`, Envoy by `ext_authz` over
 * HTTP, Traefik by `ForwardAuth`, Caddy by `forward_auth`.
 */
export const askingGateways = ['nginx', 'envoy', 'traefik', 'caddy'] as const

export type AskingGateway = (typeof askingGateways)[number]
