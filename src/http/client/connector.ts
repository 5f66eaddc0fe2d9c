import { connect, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { EndpointAddress } from './endpoint-address.ts'
import type { ClientTls } from './tls-context.ts'

/**
 * Opens a socket.
 * @param onread is passed to Node; undefined: the socket is read as a stream
 * @param onReady is called when the socket can be written to
 */
export type OpenSocket = (onread: OnReadOpts | undefined, onReady: () => void) => Socket

/**
 * Creates the function that opens connections to an address.
 * @param tls for an address with TLS; undefined: the server is verified by the public CAs, and no certificate is sent
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
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment changes nothing.
    rejectUnauthorized: true,
    // Only one protocol is offered, so that no server selects another. An IP address has no server name.
    ALPNProtocols: ['http/1.1'],
    ...(servername !== undefined && { servername }),
  }
  return (onread, onReady) => {
    const context = tls && { secureContext: tls.context() }
    return removeListenersOnClose(connectTls({ ...secure, ...context, ...toMember(onread) }, onReady))
  }
}

const toMember = (onread: OnReadOpts | undefined): { readonly onread?: OnReadOpts } => (onread ? { onread } : {})

/** So that V8 frees a closed socket, and everything that its listeners reference, in a minor GC. */
const removeListenersOnClose = (socket: Socket): Socket => socket.on('close', removeListeners)

function removeListeners(this: Socket): void {
  // Listeners of the current event are still called.
  this.removeAllListeners()
}
