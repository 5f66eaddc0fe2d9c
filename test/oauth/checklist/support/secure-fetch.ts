import type { Test } from 'tap'
import { Agent, fetch as undiciFetch } from 'undici'

export type Fetch = typeof globalThis.fetch

/** The options of a connection, as `tls.connect` takes them. */
export interface Connecting {
  readonly ca: string
  readonly cert?: string
  readonly key?: string
  /** Another source address of this machine. */
  readonly localAddress?: string
}

/** `fetch` as a client that trusts this CA and shows this certificate. */
export const fetchWith = (t: Test, { localAddress, ...connect }: Connecting): Fetch => {
  const dispatcher = new Agent({ connect, ...(localAddress !== undefined && { localAddress }) })
  t.teardown(() => dispatcher.close())
  const fetch = (input: string | URL, init: object = {}) => undiciFetch(input, { ...init, dispatcher })
  return fetch as unknown as Fetch // the same interface, declared twice
}
