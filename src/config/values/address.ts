import { isIP, isIPv4, isIPv6 } from 'node:net'

/** Where a listener binds. */
export interface HostPort {
  /** A name or address; IPv6 without brackets. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

/** `127.0.0.1:8080`, `localhost:8080` or `[::]:8080`; undefined where the text is none of these. */
export const parseHostPort = (text: string): HostPort | undefined => {
  const match = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  const [, bracketed, plain = ''] = match
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined
  return isHost(plain) ? { host: plain, port } : undefined
}

/** A name of RFC 1123 or an IPv4 address; four numbers that are no address are not a name either. */
const isHost = (text: string): boolean =>
  isIPv4(text) ||
  (!/^[\d.]+$/.test(text) && text.split('.').every(label => /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/.test(label)))

/** An address, or a network in CIDR notation (RFC 4632 section 3.1, RFC 4291 section 2.3). */
export const isNetwork = (text: string): boolean => {
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
}

/** Whether two listeners would want the same port of the same address. Port 0 never collides. */
export const collides = (one: HostPort, other: HostPort): boolean =>
  one.port !== 0 &&
  one.port === other.port &&
  (one.host === other.host || isWildcard(one.host) || isWildcard(other.host))

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'
