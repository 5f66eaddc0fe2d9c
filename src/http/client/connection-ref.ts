import type { OnReadOpts } from 'node:net'

/**
 * The reference through which the callbacks of a socket reach its connection. A closed socket stays in memory for a
 * while, and must not keep its connection in memory.
 */
export interface ConnectionRef {
  to: Linked | undefined
}

/** The parts of a connection that its socket uses. */
interface Linked {
  /** Whether the head of a request with a body has been sent. */
  readonly hasBegunBody: boolean
  /** @returns whether to read on */
  onRead(bytes: Buffer): boolean
}

export const readInto = (ref: ConnectionRef): OnReadOpts => ({
  buffer: readBuffer,
  callback: (length, bytes) => ref.to?.onRead((bytes as Buffer).subarray(0, length)) ?? true,
})

/** For `drainBeforeDestroy`. */
export const isResponsePossible = (ref: ConnectionRef) => (): boolean => ref.to?.hasBegunBody === true

/**
 * The bytes of a read are processed before the next read, so one buffer is enough for all connections of the process.
 * Windows reads ahead into the buffer, so each connection needs its own there.
 */
const readBuffer: Uint8Array | (() => Uint8Array) =
  process.platform === 'win32' ? () => Buffer.allocUnsafe(65_536) : Buffer.allocUnsafeSlow(65_536)
