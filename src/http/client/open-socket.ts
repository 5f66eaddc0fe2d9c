import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { OpenSocket } from './connection.ts'

/** How connections to an origin such as `http://127.0.0.1:9000` are opened. */
export const opener = (origin: URL): OpenSocket => {
  const host = origin.hostname.startsWith('[') ? origin.hostname.slice(1, -1) : origin.hostname
  if (origin.protocol !== 'https:') {
    const address = { host, port: Number(origin.port || 80), keepAlive: true }
    return (onread, onReady) => connect({ ...address, onread }, onReady)
  }
  // One protocol, said by name, so that no server answers in another.
  const address = { host, port: Number(origin.port || 443), ALPNProtocols: ['http/1.1'] }
  return (onread, onReady) => connectTls({ ...address, ...{ onread } }, onReady)
}
