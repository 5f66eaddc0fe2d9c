import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A parser of Node's: one for each connection. */
export interface Connection {
  readonly socket?: Socket | null
}

/** Node's own list of the connections of a server. */
export interface ConnectionList {
  /** Those that are reading no request. */
  idle(): readonly Connection[]
  /** Those whose request takes longer to come than this, in milliseconds; each is named once. */
  expired(headersTimeoutMs: number, requestTimeoutMs: number): readonly Connection[]
}

/** There is no public name for it: undefined before the server listens, and where Node has another name for it or what it does. */
export const connectionList = (server: Server): ConnectionList | undefined => {
  const name = Object.getOwnPropertySymbols(server).find(({ description }) => description === 'http.server.connections')
  const list = name && (server as unknown as Readonly<Record<symbol, Partial<ConnectionList>>>)[name]
  return list?.idle && list.expired ? (list as ConnectionList) : undefined
}
