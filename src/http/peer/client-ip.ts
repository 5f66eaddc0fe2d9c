import { BlockList, isIP, isIPv4 } from 'node:net'

/** Who is at the other end of a request, once trusted proxies have been believed. */
export interface AddressReader {
  /** The client's address: the peer's own, or what a trusted peer says in X-Forwarded-For. */
  read(peer: string, forwardedFor: string | undefined): string
  /** Whether the peer's X-Forwarded-* and X-Request-Id are believed. */
  isTrusted(peer: string): boolean
}

/** @param trustedProxies addresses and CIDRs; empty: nobody is believed */
export const createAddressReader = (trustedProxies: readonly string[]): AddressReader => {
  const list = new BlockList()
  for (const entry of trustedProxies) addEntry(list, entry)
  const isTrusted = (address: string): boolean =>
    trustedProxies.length > 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  return {
    isTrusted,
    read(peer, forwardedFor) {
      if (forwardedFor === undefined || !isTrusted(peer)) return peer
      // From the right: each trusted hop vouches for the one before it; the first untrusted one is the client.
      let client = peer
      for (const hop of forwardedFor.split(',').reverse()) {
        const address = plainAddress(hop.trim())
        if (address === undefined) return client
        client = address
        if (!isTrusted(address)) return client
      }
      return client
    },
  }
}

const addEntry = (list: BlockList, entry: string): void => {
  const [address = '', bits] = entry.split('/')
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (bits === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(bits), family)
}

/**
 * Takes the IPv6 form of an IPv4 address, brackets and a port away, and writes what is IPv6 as RFC 5952 has it, so that one
 * address is one text; undefined where it is no address.
 */
export const plainAddress = (received: string): string | undefined => {
  const bare = received.startsWith('[')
    ? received.slice(1, received.indexOf(']'))
    : received.replace(/^([\d.]+):\d+$/, '$1')
  if (isIP(bare) !== 6) return isIPv4(bare) ? bare : undefined
  if (!URL.canParse(`http://[${bare}]`)) return undefined
  const address = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address)
  return mapped ? [mapped[1], mapped[2]].flatMap(bytesOf).join('.') : address
}

/** The two bytes of a group of an IPv6 address. */
const bytesOf = (group = ''): readonly number[] => {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 255]
}

/**
 * What limits by address count together: an IPv4 address, or the /64 of an IPv6 one, since one subscriber has a whole
 * /64 to choose from.
 */
export const addressKey = (address: string): string => {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...new Array<string>(zeros).fill('0'), ...after]
  return `${groups.slice(0, 4).join(':')}::/64`
}
