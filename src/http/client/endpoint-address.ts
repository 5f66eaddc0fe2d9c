import { isIP } from 'node:net'

/** Where a server listens. */
export type EndpointAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'tcp'
      /** What it is called by: a name or an address; IPv6 without brackets. */
      readonly name: string
      /** Where it is: the name itself, or one of its addresses. */
      readonly host: string
      readonly port: number
      /** Whether it speaks TLS. */
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

/** What requests to it name as their Host; of a socket file nobody asks for a name. */
export const hostOf = (target: string): string => (target.startsWith(unixPrefix) ? 'localhost' : new URL(target).host)

/** `127.0.0.1:9000`, `[::1]:9000` or the path of the socket: for the log. */
export const addressText = (address: EndpointAddress): string => {
  if (address.kind === 'unix') return address.path
  return isIP(address.host) === 6 ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`
}
