import { lookup } from 'node:dns/promises'
import net from 'node:net'
import { getSystemErrorName } from 'node:util'

/**
 * The listening sockets of the traffic address, one per worker slot, all on one port with SO_REUSEPORT, so the kernel
 * spreads connections evenly and no process has to hand them over. They belong to the primary, which never accepts: a
 * worker that dies takes only the connections it had accepted with it. What waits in its queue stays there until the
 * slot is lent to another worker, at once (round robin loses a hand-over to a dying
 * worker, plain reusePort loses its queue, one shared socket spreads 31 to 1).
 */
export interface Listeners {
  /** Where they listen, e.g. `http://127.0.0.1:8080`. */
  readonly url: string
  /** The handle of a slot, to be sent to a worker. */
  handle(slot: number): ListenHandle
  close(): void
}

/** A bound socket of Node's own making; opaque to us. */
export interface ListenHandle {
  close(): void
  /** @returns 0, or what is wrong as an errno: also what was wrong with the binding already */
  listen(backlog: number): number
  getsockname(out: { port?: number }): number
}

/** UV_TCP_REUSEPORT of libuv 1.49; unsupported outside Linux and the BSDs, where the slots share one socket. */
const reusePort = 2

/**
 * @throws Error one line that says what is wrong: the port taken, not permitted, the address not of this machine
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
 * Takes the port for a moment without SO_REUSEPORT: with it, a second gateway on the same port would quietly get half
 * the connections. It has to listen, since libuv keeps a failed binding to itself until then.
 * @returns the port; a free one where 0 was asked for
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

/** libuv closes a handle in the next turn of the event loop; only then is the port free again. */
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

/** Binds without listening, as node:cluster does for its own shared handles. There is no documented way to do that. */
const createServerHandle = (net as unknown as { readonly _createServerHandle: CreateServerHandle })._createServerHandle
