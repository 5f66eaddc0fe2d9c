import { BlockList, isIP, isIPv4 } from 'node:net'

/** Finds the client's address behind trusted proxies. */
export interface AddressReader {
  /** The client's address: that of the peer, or the one that a trusted peer sends in X-Forwarded-For. */
  read(peer: string, forwardedFor: string | undefined): string
  /** Whether the peer's X-Forwarded-* and X-Request-Id are trusted. */
  isTrusted(peer: string): boolean
}

/** @param trustedProxies addresses and CIDRs; empty: no proxy is trusted */
export const createAddressReader = (trustedProxies: readonly string[]): AddressReader => {
  const list = new BlockList()
  for (const entry of trustedProxies) addEntry(list, entry)
  const isTrusted = (address: string): boolean =>
    trustedProxies.length > 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  return {
    isTrusted,
    read(peer, forwardedFor) {
      if (forwardedFor === undefined || !isTrusted(peer)) return peer
      // From the right: each trusted hop confirms the one before it. The first untrusted hop is the client.
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
 * Removes the IPv6 form of an IPv4 address, brackets and a port, and writes IPv6 addresses in the form of RFC 5952, so
 * that each address has one text. Undefined if the text is not an address.
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
 * The key by which limits count addresses: an IPv4 address, or the /64 of an IPv6 address, because one subscriber can
 * use all addresses of a /64.
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
