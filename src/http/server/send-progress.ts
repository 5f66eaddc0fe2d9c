import type { Socket } from 'node:net'

/** Whether a socket's peer takes what is written to it, as ticks see it. */
export class SendProgress {
  /** Bytes that had been sent at the last tick, while some waited; -1: none waited. */
  #sentBytes = -1
  #sentAtMs = 0

  /** @param nowMs of a monotonic clock @param timeoutMs for which the peer may take nothing */
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
