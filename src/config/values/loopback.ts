import { isIPv4 } from 'node:net'

/** Whether a host, of a URL or of a listener, is this machine alone (RFC 1122 section 3.2.1.3, RFC 6761 section 6.3). */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
