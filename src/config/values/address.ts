import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { plainAddress } from '../../http/peer/client-ip.ts'

/** The address of a listener. */
export interface HostPort {
  /** A name or address; IPv6 without brackets. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

/** `127.0.0.1:8080`, `localhost:8080` or `[::]:8080`; undefined if the text has none of these forms. */
export const parseHostPort = (text: string): HostPort | undefined => {
  const match = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  const [, bracketed, plain = ''] = match
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined
  return isHost(plain) ? { host: plain, port } : undefined
}

/** A name of RFC 1123 or an IPv4 address. Four numbers that are not an address are not a name either. */
const isHost = (text: string): boolean =>
  isIPv4(text) ||
  (!/^[\d.]+$/.test(text) && text.split('.').every(label => /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/.test(label)))

/** An address, or a network in CIDR notation (RFC 4632 section 3.1, RFC 4291 section 2.3). */
const isNetwork = (text: string): boolean => {
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
}

/**
 * The fault of a network whose proxies are trusted, and the correction, or undefined. A network as wide as a part of
 * the internet contains clients too: they could claim any address and any certificate.
 */
export const trustedNetworkFault = (text: string): string | undefined => {
  if (!isNetwork(text)) return 'must be an address or a network, such as 10.0.0.0/8 or fd00::/8'
  const { family, prefix } = toNetwork(text)
  return prefix < narrowest[family] && !isUniqueLocal(text) ? tooWide : undefined
}

/** Whether a network is larger than the proxies of one site need: wider than /16 (IPv4) or /48 (IPv6). */
export const isWideNetwork = (text: string): boolean => {
  const { family, prefix } = toNetwork(text)
  return prefix < { ipv4: 16, ipv6: 48 }[family]
}

/** The shortest prefix of a network that one organisation can own. */
const narrowest = { ipv4: 8, ipv6: 24 } as const

const tooWide = `is too wide: every host in it may claim any address and certificate; name the proxies, or networks of /${narrowest.ipv4} (IPv4) and /${narrowest.ipv6} (IPv6) at most`

interface Network {
  readonly family: 'ipv4' | 'ipv6'
  /** Below 0: wider than the address family. */
  readonly prefix: number
}

const toNetwork = (text: string): Network => {
  const [address = '', bits] = text.split('/')
  if (isIPv4(address)) return { family: 'ipv4', prefix: Number(bits ?? 32) }
  const prefix = Number(bits ?? 128)
  return holdsIpv4(address, prefix) ? { family: 'ipv4', prefix: prefix - 96 } : { family: 'ipv6', prefix }
}

/** An IPv4 address is also in `::ffff:0:0/96`, and in the networks around that (RFC 4291 section 2.5.5.2). */
const holdsIpv4 = (address: string, prefix: number): boolean => {
  const list = new BlockList()
  list.addSubnet(address, prefix, 'ipv6')
  return list.check('0.0.0.0', 'ipv4') || /^\[::ffff:[\da-f]+:[\da-f]+\]$/.test(canonical(address))
}

/** In fc00::/7, which is not routed on the internet (RFC 4193). */
const isUniqueLocal = (text: string): boolean => {
  const [address = '', prefix = '128'] = text.split('/')
  return isIPv6(address) && /^\[f[cd]..:/.test(canonical(address)) && Number(prefix) >= 7
}

/** Without the zone, as in `fe80::1%eth0`. */
const canonical = (address: string): string => new URL(`http://[${address.replace(/%.*/, '')}]`).hostname

/**
 * A host in its normal form, for comparison: without brackets and zone, an IPv4 address instead of its IPv6 form.
 * `0:0:0:0:0:0:0:1` becomes `::1`, and a text that the system takes for an address, such as `0x7f.1`, becomes that
 * address.
 */
export const plainHost = (host: string): string => {
  const bare = host.replace(/%[^\]]*/, '')
  return plainAddress(bare) ?? (URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`).hostname : bare)
}

/** Whether two listeners need the same port of the same address. Port 0 never collides. */
export const collides = (one: HostPort, other: HostPort): boolean =>
  one.port !== 0 &&
  one.port === other.port &&
  (one.host === other.host || isWildcard(one.host) || isWildcard(other.host))

/** Whether a listener accepts connections on every address of the machine. */
export const isWildcard = (host: string): boolean => ['0.0.0.0', '::'].includes(plainHost(host))

/** Whether a host of a URL or a listener is only this machine (RFC 1122 section 3.2.1.3, RFC 6761 section 6.3). */
export const isLoopback = (host: string): boolean => {
  const plain = plainHost(host)
  return plain === 'localhost' || plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}
