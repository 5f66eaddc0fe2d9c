import { isIPv4 } from 'node:net'
import { plainHost } from './address.ts'

/** Whether a host, of a URL or of a listener, is this machine alone (RFC 1122 section 3.2.1.3, RFC 6761 section 6.3). */
export const isLoopback = (host: string): boolean => {
  const plain = plainHost(host)
  return plain === 'localhost' || plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}
