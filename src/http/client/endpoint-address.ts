import { isIP } from 'node:net'

/** The address of a server. */
export type EndpointAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'tcp'
      /** The name or the address in the configuration; IPv6 without brackets. */
      readonly name: string
      /** The name itself, or one of its addresses. */
      readonly host: string
      readonly port: number
      /** Whether the server uses TLS. */
      readonly isSecure: boolean
    }

/** @param target an origin such as `http://127.0.0.1:9000`, or `unix:` and the path of a socket */
export const toEndpointAddress = (target: string): EndpointAddress => {
  if (target.startsWith(unixPrefix)) return { kind: 'unix', path: target.slice(unixPrefix.length) }
  const { protocol, hostname, port } = new URL(target)
  const isSecure = protocol === 'https:'
  const name = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return {
    kind: 'tcp',
    name,
    host: name,
    port: Number(port || (isSecure ? 443 : 80)),
    isSecure,
  }
}

const unixPrefix = 'unix:'

/** The Host of requests to the server. A Unix socket has no host name. */
export const hostOf = (target: string): string => (target.startsWith(unixPrefix) ? 'localhost' : new URL(target).host)

/** `127.0.0.1:9000`, `[::1]:9000` or the path of the socket, for the log. */
export const addressText = (address: EndpointAddress): string => {
  if (address.kind === 'unix') return address.path
  return isIP(address.host) === 6 ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`
}
