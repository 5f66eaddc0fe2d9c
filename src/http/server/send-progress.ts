import type { Socket } from 'node:net'

/** Detects at ticks whether a socket's peer reads the bytes that are written to it. */
export class SendProgress {
  /** Bytes that had been sent at the last tick while others were pending; -1: no bytes were pending. */
  #sentBytes = -1
  #sentAtMs = 0

  /**
   * @param nowMs of a monotonic clock
   * @param timeoutMs for which the peer may read nothing
   */
  isStalled(socket: Socket, nowMs: number, timeoutMs: number): boolean {
    if (socket.writableLength === 0) {
      this.#sentBytes = -1
      return false
    }
    const sentBytes = socket.bytesWritten - socket.writableLength
    if (sentBytes === this.#sentBytes) return nowMs - this.#sentAtMs >= timeoutMs
    this.#sentBytes = sentBytes
    this.#sentAtMs = nowMs
    return false
  }
}
