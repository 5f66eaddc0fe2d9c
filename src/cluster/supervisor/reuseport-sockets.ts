import { lookup } from 'node:dns/promises'
import net from 'node:net'
import { getSystemErrorName } from 'node:util'

/**
 * The listening sockets of the traffic address, one per worker slot, all on one port with SO_REUSEPORT, so that the
 * kernel spreads connections evenly and no process has to hand them over. They belong to the primary, which never
 * accepts: when a worker dies, only the connections that it had accepted are lost. The connections in the queue of its
 * socket wait until another worker accepts from that socket, which it does at once. (Round robin loses a connection
 * that is being handed to a dying worker, plain reusePort loses its queue, and one shared socket spreads 31 to 1.)
 */
export interface Listeners {
  /** The URL of the address, e.g. `http://127.0.0.1:8080`. */
  readonly url: string
  /** The handle of a slot, to be sent to a worker. */
  handle(slot: number): ListenHandle
  close(): void
}

/** A bound socket, as an internal object of Node. */
export interface ListenHandle {
  close(): void
  /** @returns 0, or the errno of the failure, which may be one of the binding before */
  listen(backlog: number): number
  getsockname(out: { port?: number }): number
}

/** UV_TCP_REUSEPORT of libuv 1.49. Outside Linux and the BSDs it is not supported, and the slots share one socket. */
const reusePort = 2

/**
 * @throws Error one line with the reason: the port is taken or not permitted, or the machine does not have the address
 */
export const bindListeners = async (
  host: string,
  port: number,
  slots: number,
  scheme: 'http' | 'https',
): Promise<Listeners> => {
  const { address, family } = await lookup(host).catch(error => {
    throw new Error(`cannot listen on ${host}:${port}: the name is not known`, { cause: error })
  })
  const boundPort = await probe(address, port, family)
  const first = tryBind(address, boundPort, family, reusePort) ?? bind(address, boundPort, family, 0)
  const handles = [first]
  while (handles.length < slots) {
    const handle = tryBind(address, boundPort, family, reusePort)
    if (handle === undefined) break
    handles.push(handle)
  }
  return {
    url: `${scheme}://${family === 6 ? `[${address}]` : address}:${boundPort}`,
    handle: slot => handles[slot % handles.length] as ListenHandle,
    close() {
      for (const handle of handles) handle.close()
    },
  }
}

/**
 * Binds the port for a moment without SO_REUSEPORT, because with it a second gateway on the same port would silently
 * get half the connections. It has to listen too, because libuv reports a failed binding only then.
 * @returns the port; a free one if the port is 0
 */
const probe = async (address: string, port: number, family: number): Promise<number> => {
  const handle = bind(address, port, family, 0)
  const errno = handle.listen(1)
  const boundPort = portOf(handle)
  handle.close()
  await closed()
  if (errno !== 0) throw cannotListen(address, port, family, errno)
  return boundPort
}

/** libuv closes a handle in the next turn of the event loop; only then the port is free again. */
const closed = (): Promise<void> => new Promise(resolve => setImmediate(() => setImmediate(resolve)))

const bind = (address: string, port: number, family: number, flags: number): ListenHandle => {
  const handle = createServerHandle(address, port, family, undefined, flags)
  if (typeof handle !== 'number') return handle
  throw cannotListen(address, port, family, handle)
}

const tryBind = (address: string, port: number, family: number, flags: number): ListenHandle | undefined => {
  const handle = createServerHandle(address, port, family, undefined, flags)
  return typeof handle === 'number' ? undefined : handle
}

const cannotListen = (address: string, port: number, family: number, errno: number): Error =>
  new Error(
    `cannot listen on ${family === 6 ? `[${address}]` : address}:${port}: ${describeBindError(getSystemErrorName(errno))}`,
  )

/** Why an address cannot be bound, in words. @param code such as `EADDRINUSE` */
export const describeBindError = (code: string): string => {
  switch (code) {
    case 'EADDRINUSE':
      return 'the port is taken by another program'
    case 'EACCES':
      return 'this user may not use the port'
    case 'EADDRNOTAVAIL':
      return 'the address is not one of this machine'
    default:
      return code
  }
}

const portOf = (handle: ListenHandle): number => {
  const out: { port?: number } = {}
  handle.getsockname(out)
  return out.port ?? 0
}

type CreateServerHandle = (
  address: string,
  port: number,
  family: number,
  fd: undefined,
  flags: number,
) => ListenHandle | number

/** Binds without listening, as node:cluster does for its own shared handles. Node has no public function for that. */
const createServerHandle = (net as unknown as { readonly _createServerHandle: CreateServerHandle })._createServerHandle
