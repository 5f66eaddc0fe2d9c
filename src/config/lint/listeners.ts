import { isLoopback, isWideNetwork, isWildcard } from '../values/address.ts'
import { issuerOf } from '../values/issuer.ts'
import { type WarningRules, warnIf } from './warning.ts'

/** Listeners and proxies: which networks can reach them. */
export const listenerRules = {
  'http-issuer': ({ parsed: { topLevel } }) => {
    const { protocol, hostname } = new URL(issuerOf(topLevel.value))
    const message = 'tokens and secrets are sent to it unencrypted; use https, with TLS here or in a proxy in front'
    return warnIf(protocol === 'http:' && !isLoopback(hostname), ['issuer'], message)
  },
  'local-issuer': ({ parsed: { topLevel } }) =>
    warnIf(
      isLoopback(new URL(issuerOf(topLevel.value)).hostname) && !isLoopback(topLevel.value.listen.host),
      ['issuer'],
      'is reachable only from this machine, while listen accepts other hosts; set the https URL that they use',
    ),
  'admin-open': ({ parsed: { topLevel } }) =>
    warnIf(
      isWildcard(topLevel.value.admin.host),
      ['admin'],
      'every host that can reach this port can read the metrics without authentication; listen on 127.0.0.1, or restrict access by a network policy',
    ),
  'internal-open': ({ parsed: { topLevel } }) =>
    warnIf(
      topLevel.value.internal !== undefined && isWildcard(topLevel.value.internal.listen.host),
      ['internal', 'listen'],
      'over this port your login reports which user signed in; listen only on the address that it uses',
    ),
  'unnamed-proxy': ({ parsed: { topLevel } }) =>
    warnIf(
      issuerOf(topLevel.value).startsWith('https:') &&
        !topLevel.value.tls &&
        topLevel.value.trustedProxies.length === 0,
      ['trustedProxies'],
      'TLS is terminated by a proxy in front that is not named, so all callers share one address in the limits of failed authentications and sign-ins; name the proxy',
    ),
  'wide-proxies': ({ parsed: { topLevel } }) =>
    topLevel.value.trustedProxies.flatMap((network, index) =>
      warnIf(
        isWideNetwork(network),
        ['trustedProxies', index],
        'every host in it may claim any address and certificate; name the proxies, or networks of /16 (IPv4) and /48 (IPv6) at most',
      ),
    ),
} as const satisfies WarningRules
