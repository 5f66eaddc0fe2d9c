import type { OnReadOpts } from 'node:net'

/**
 * What functions that a socket keeps see of its connection. A socket that has closed stays in memory for a while,
 * and leads to nothing then.
 */
export interface ConnectionRef {
  to: Linked | undefined
}

/** A connection, as far as its socket needs it. */
interface Linked {
  /** Whether the head of a request with a body has left. */
  readonly hasBegunBody: boolean
  /** @returns whether more may be read */
  onRead(bytes: Buffer): boolean
}

export const readInto = (ref: ConnectionRef): OnReadOpts => ({
  buffer: readBuffer,
  callback: (length, bytes) => ref.to?.onRead((bytes as Buffer).subarray(0, length)) ?? true,
})

/** For `hearOut`. */
export const isResponsePossible = (ref: ConnectionRef) => (): boolean => ref.to?.hasBegunBody === true

/**
 * What is read goes on before the next read: the process needs one buffer for all its connections. Windows reads ahead
 * into the buffer, so there each would need its own.
 */
const readBuffer: Uint8Array | (() => Uint8Array) =
  process.platform === 'win32' ? () => Buffer.allocUnsafe(65_536) : Buffer.allocUnsafeSlow(65_536)
