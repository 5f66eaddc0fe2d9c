import { connect, isIP, type OnReadOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { OpenSocket } from './connection.ts'
import type { Place } from './place.ts'

/** How connections to a place are opened. */
export const opener = (place: Place): OpenSocket => {
  if (place.kind === 'unix') return (onread, onReady) => connect({ path: place.path, ...toMember(onread) }, onReady)
  const { host, port } = place
  const address = { host, port, keepAlive: true }
  if (!place.isSecure) return (onread, onReady) => connect({ ...address, ...toMember(onread) }, onReady)
  // One protocol, said by name, so that no server answers in another. Of an address there is no name to say.
  const secure = { ...address, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 && { servername: host }) }
  return (onread, onReady) => connectTls({ ...secure, ...toMember(onread) }, onReady)
}

const toMember = (onread: OnReadOpts | undefined): { readonly onread?: OnReadOpts } => (onread ? { onread } : {})
