import { Duplex } from 'node:stream'

/** Stands for the socket of a connection. Its owner pushes what the client sends, and sees what the server writes. */
export class MemorySocket extends Duplex {
  /** The bytes that the server has written, in latin1. */
  written = ''
  bytesRead = 0
  readonly remoteAddress = '127.0.0.1'

  override _read(): void {}

  override _write(bytes: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.written += typeof bytes === 'string' ? bytes : bytes.toString('latin1')
    done()
  }

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  destroySoon(): void {
    this.end(() => this.destroy())
  }
}
