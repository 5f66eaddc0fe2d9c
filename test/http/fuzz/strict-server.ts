import type { MemorySocket } from './memory-socket.ts'
import type { CreateServerUnderTest, HandlersUnderTest, RequestUnderTest } from './server-under-test.ts'
import { StrictChunks } from './strict-chunks.ts'
import { type DisabledChecks, parseStrictHead, RefusedError, refuseIf, type StrictHead } from './strict-head.ts'

/**
 * A small and slow server that keeps to RFC 9112. The comparison with Node is tested on it: single checks can be disabled,
 * which the comparison has to notice.
 */
export const createStrictServer =
  (disabled: DisabledChecks = new Set()): CreateServerUnderTest =>
  handlers => ({
    accept: socket => {
      const connection = new StrictConnection(socket, handlers, disabled)
      socket.on('data', (piece: Buffer) => connection.receive(piece))
    },
  })

const maxHeadBytes = 16_384

class StrictConnection {
  readonly #socket: MemorySocket
  readonly #handlers: HandlersUnderTest
  readonly #disabled: DisabledChecks
  /** Received and not read yet, in latin1. */
  #text = ''
  #readNext: (() => boolean) | undefined = () => this.#readHead()

  constructor(socket: MemorySocket, handlers: HandlersUnderTest, disabled: DisabledChecks) {
    this.#socket = socket
    this.#handlers = handlers
    this.#disabled = disabled
  }

  receive(piece: Buffer): void {
    this.#text += piece.toString('latin1')
    this.#read()
  }

  #read(): void {
    try {
      while (this.#readNext?.()) {}
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      this.#handlers.refused(error.reason)
      this.#end()
    }
  }

  #end(): void {
    this.#readNext = undefined
    this.#socket.end()
  }

  /** @returns whether the next part may be read */
  #readHead(): boolean {
    while (this.#text.startsWith('\r\n')) this.#text = this.#text.slice(2)
    const [empty] = (this.#disabled.has('bare-lf') ? /\r?\n\r?\n/ : /\r\n\r\n/).exec(this.#text) ?? []
    const end = empty === undefined ? -1 : this.#text.indexOf(empty)
    this.#checkLineEnds(end < 0 ? this.#text : this.#text.slice(0, end + 4))
    const isTooLarge = end < 0 ? this.#text.length > maxHeadBytes : end + 4 > maxHeadBytes
    refuseIf('head-too-large', isTooLarge, this.#disabled)
    if (empty === undefined) return false
    const head = parseStrictHead(this.#text.slice(0, end), this.#disabled)
    this.#text = this.#text.slice(end + empty.length)
    this.#begin(head)
    return true
  }

  #checkLineEnds(head: string): void {
    for (const { 0: bare, index } of head.matchAll(/\r(?!\n|$)|(?<!\r)\n/g)) {
      if (index < maxHeadBytes) refuseIf(bare === '\r' ? 'bare-cr' : 'bare-lf', true, this.#disabled)
    }
  }

  #begin(head: StrictHead): void {
    let onData: (piece: Buffer) => void = () => {}
    let onEnd: () => void = () => {}
    const req: RequestUnderTest = {
      method: head.method,
      target: head.target,
      version: head.version,
      rawHeaders: head.fields,
      readBody: (data, end) => {
        onData = data
        onEnd = end
      },
    }
    if (head.upgrades) {
      this.#handlers.upgrade(req, Buffer.from(this.#text, 'latin1'))
      this.#readNext = undefined
      return
    }
    this.#handlers.request(req, () => this.#answer(head))
    this.#readNext = this.#bodyReader(
      head,
      text => onData(Buffer.from(text, 'latin1')),
      () => onEnd(),
    )
  }

  #bodyReader(head: StrictHead, onData: (text: string) => void, onEnd: () => void): () => boolean {
    if (head.framing.by === 'chunks') {
      const chunks = new StrictChunks(this.#disabled)
      return () => {
        this.#text = chunks.read(this.#text, onData)
        return chunks.isDone && this.#endBody(onEnd)
      }
    }
    let left = head.framing.bytes
    return () => {
      const piece = this.#text.slice(0, left)
      this.#text = this.#text.slice(left)
      left -= piece.length
      if (piece !== '') onData(piece)
      return left === 0 && this.#endBody(onEnd)
    }
  }

  #endBody(onEnd: () => void): boolean {
    this.#readNext = undefined
    onEnd()
    return this.#readNext !== undefined
  }

  #answer({ persists }: StrictHead): void {
    this.#socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    if (persists) this.#readNext = () => this.#readHead()
    else this.#end()
  }
}
