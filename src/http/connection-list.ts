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
  const list = ownOf<Partial<ConnectionList>>(server, 'http.server.connections')
  return list?.idle && list.expired ? (list as ConnectionList) : undefined
}

/** Ends Node's own looks through the list, until the server listens anew. They go on where Node has another name for them. */
export const endNodesLooks = (server: Server): void =>
  clearInterval(ownOf<NodeJS.Timeout>(server, 'http.server.connectionsCheckingInterval'))

const ownOf = <Value>(server: Server, description: string): Value | undefined => {
  const name = Object.getOwnPropertySymbols(server).find(symbol => symbol.description === description)
  return name && (server as unknown as Readonly<Record<symbol, Value>>)[name]
}
