import { isLoopback, isWideNetwork, isWildcard } from '../values/address.ts'
import { issuerOf } from '../values/issuer.ts'
import { type WarningRules, warnIf } from './warning.ts'

/** Listeners and proxies: which networks can reach them. */
export const listenerRules = {
  'http-issuer': ({ parsed: { topLevel } }) => {
    const { protocol, hostname } = new URL(issuerOf(topLevel.value))
    const message = 'tokens and secrets go to it in clear; make it https, with tls here or in front'
    return warnIf(protocol === 'http:' && !isLoopback(hostname), ['issuer'], message)
  },
  'local-issuer': ({ parsed: { topLevel } }) =>
    warnIf(
      isLoopback(new URL(issuerOf(topLevel.value)).hostname) && !isLoopback(topLevel.value.listen.host),
      ['issuer'],
      'names this machine alone, while listen takes callers from others; set the https URL by which they come',
    ),
  'admin-open': ({ parsed: { topLevel } }) =>
    warnIf(
      isWildcard(topLevel.value.admin.host),
      ['admin'],
      'whoever reaches this port reads the metrics, without a proof; listen on 127.0.0.1, or keep it from others by a network policy',
    ),
  'internal-open': ({ parsed: { topLevel } }) =>
    warnIf(
      topLevel.value.internal !== undefined && isWildcard(topLevel.value.internal.listen.host),
      ['internal', 'listen'],
      'here your login says who signed in; listen on the address by which it comes alone',
    ),
  'unnamed-proxy': ({ parsed: { topLevel } }) =>
    warnIf(
      issuerOf(topLevel.value).startsWith('https:') &&
        !topLevel.value.tls &&
        topLevel.value.trustedProxies.length === 0,
      ['trustedProxies'],
      'TLS ends at a proxy in front, which is not named: all callers are one address to the limits of wrong proofs and sign-ins; name the proxy',
    ),
  'wide-proxies': ({ parsed: { topLevel } }) =>
    topLevel.value.trustedProxies.flatMap((network, index) =>
      warnIf(
        isWideNetwork(network),
        ['trustedProxies', index],
        'whoever is in it may claim any address and certificate; name the proxies, or networks of /16 (IPv4) and /48 (IPv6) at most',
      ),
    ),
} as const satisfies WarningRules
