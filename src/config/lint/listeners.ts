import { isLoopback, isWideNetwork, isWildcard } from '../values/address.ts'
import { issuerOf } from '../values/issuer.ts'
import { type WarningRules, warnIf } from './warning.ts'

/** Who can reach what, and by which way. */
export const listenerRules = {
  'http-issuer': ({ draft: { head } }) => {
    const { protocol, hostname } = new URL(issuerOf(head.value))
    const message = 'tokens and secrets go to it in clear; make it https, with tls here or in front'
    return warnIf(protocol === 'http:' && !isLoopback(hostname), ['issuer'], message)
  },
  'local-issuer': ({ draft: { head } }) =>
    warnIf(
      isLoopback(new URL(issuerOf(head.value)).hostname) && !isLoopback(head.value.listen.host),
      ['issuer'],
      'names this machine alone, while listen takes callers from others; set the https URL by which they come',
    ),
  'admin-open': ({ draft: { head } }) =>
    warnIf(
      isWildcard(head.value.admin.host),
      ['admin'],
      'whoever reaches this port reads the metrics, without a proof; listen on 127.0.0.1, or keep it from others by a network policy',
    ),
  'internal-open': ({ draft: { head } }) =>
    warnIf(
      head.value.internal !== undefined && isWildcard(head.value.internal.listen.host),
      ['internal', 'listen'],
      'here your login says who signed in; listen on the address by which it comes alone',
    ),
  'unnamed-proxy': ({ draft: { head } }) =>
    warnIf(
      issuerOf(head.value).startsWith('https:') && !head.value.tls && head.value.trustedProxies.length === 0,
      ['trustedProxies'],
      'TLS ends at a proxy in front, which is not named: all callers are one address to the limits of wrong proofs and sign-ins; name the proxy',
    ),
  'wide-proxies': ({ draft: { head } }) =>
    head.value.trustedProxies.flatMap((network, index) =>
      warnIf(
        isWideNetwork(network),
        ['trustedProxies', index],
        'whoever is in it may claim any address and certificate; name the proxies, or networks of /16 (IPv4) and /48 (IPv6) at most',
      ),
    ),
} as const satisfies WarningRules
