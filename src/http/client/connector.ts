import { connect, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { EndpointAddress } from './endpoint-address.ts'
import type { ClientTls } from './tls-context.ts'

/**
 * Opens a socket.
 * @param onread to be passed on; undefined: the socket is read as a stream
 * @param onReady to be called when it may be written to
 */
export type OpenSocket = (onread: OnReadOpts | undefined, onReady: () => void) => Socket

/**
 * How connections to a address are opened.
 * @param tls for a address that speaks it; undefined: the public CAs vouch for it, and we show no certificate
 */
export const createConnector = (address: EndpointAddress, tls?: ClientTls): OpenSocket => {
  if (address.kind === 'unix')
    return (onread, onReady) => removeListenersOnClose(connect({ path: address.path, ...toMember(onread) }, onReady))
  const { name, host, port } = address
  const options = { host, port, keepAlive: true }
  if (!address.isSecure)
    return (onread, onReady) => removeListenersOnClose(connect({ ...options, ...toMember(onread) }, onReady))
  const servername = tls?.servername ?? (isIP(name) === 0 ? name : undefined)
  const secure = {
    ...options,
    // Said, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment changes nothing.
    rejectUnauthorized: true,
    // One protocol, said by name, so that no server answers in another. Of an address there is no name to say.
    ALPNProtocols: ['http/1.1'],
    ...(servername !== undefined && { servername }),
  }
  return (onread, onReady) => {
    const context = tls && { secureContext: tls.context() }
    return removeListenersOnClose(connectTls({ ...secure, ...context, ...toMember(onread) }, onReady))
  }
}

const toMember = (onread: OnReadOpts | undefined): { readonly onread?: OnReadOpts } => (onread ? { onread } : {})

/** So that V8 frees a closed socket, and all that its listeners lead to, with the other young objects. */
const removeListenersOnClose = (socket: Socket): Socket => socket.on('close', removeListeners)

function removeListeners(this: Socket): void {
  // Those that are being told of the close still are.
  this.removeAllListeners()
}
