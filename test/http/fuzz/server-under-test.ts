import type { MemorySocket } from './memory-socket.ts'

/** The parts of an HTTP/1.1 server that the fuzz test uses. */
export interface ServerUnderTest {
  accept(socket: MemorySocket): void
}

export type CreateServerUnderTest = (handlers: HandlersUnderTest) => ServerUnderTest

export interface HandlersUnderTest {
  /** One at a time on each connection: the next follows the answer to this one. */
  request(req: RequestUnderTest, answer: () => void): void
  /** A WebSocket handshake. The socket gives the bytes behind it. */
  upgrade(req: RequestUnderTest): void
  /** Bytes that are no request: the server answers them itself. */
  refused(reason: string): void
}

export interface RequestUnderTest {
  readonly method: string
  readonly target: string
  readonly version: string
  readonly rawHeaders: readonly string[]
  /** Called before the body's first byte is read. The body does not end if the server refuses it. */
  readBody(onData: (piece: Buffer) => void, onEnd: () => void): void
  pauseBody(): void
  resumeBody(): void
}
