import { ChunkedDecoder } from '../message/chunked-decoder.ts'
import { InvalidMessageError } from '../message/invalid-message.ts'
import type { UpstreamHead } from './response-head.ts'
import { UpstreamHeadParser } from './response-head-parser.ts'

/** Longest head of an answer, in bytes. */
const maxHeadBytes = 65_536

/**
 * Most bytes of all interim answers before the final one. A server that reports progress by 102 may send hundreds. The time for the
 * head of the final answer goes on meanwhile.
 */
const maxInterimBytes = 65_536

const headEnd = '\r\n\r\n'
const noBytes = Buffer.alloc(0)

/** Who is told what an answer says, in order. */
export interface ResponseHandler {
  /** The final answer has begun. Interim ones (1xx) are read past (RFC 9110 section 15.2). */
  onHead(head: UpstreamHead): void
  /** @param piece of the body; a view that is overwritten after the call */
  onData(piece: Buffer): void
  onEnd(): void
}

/** Reads one answer out of whatever pieces its bytes come in. */
export class ResponseParser {
  readonly #method: string
  readonly #heads: UpstreamHeadParser
  readonly #listener: ResponseHandler
  readonly #mayUpgrade: boolean
  #head: UpstreamHead | undefined
  /** Of a head that has not ended yet. */
  #held = noBytes
  #interimBytes = 0
  #chunks: ChunkedDecoder | undefined
  /** Of a body whose length is known. */
  #owedBytes = 0
  #isDone = false

  /**
   * @param heads of the connection
   * @param mayUpgrade whether another protocol was asked for: 101 is then the final answer, and what follows is no body
   */
  constructor(method: string, listener: ResponseHandler, heads = new UpstreamHeadParser(), mayUpgrade = false) {
    this.#method = method
    this.#heads = heads
    this.#listener = listener
    this.#mayUpgrade = mayUpgrade
  }

  get head(): UpstreamHead | undefined {
    return this.#head
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** @returns how many bytes belong to the answer @throws InvalidMessageError */
  read(bytes: Buffer): number {
    if (this.#head) return this.#readBody(bytes, 0)
    const heldBefore = this.#held.length
    const all = heldBefore === 0 ? bytes : Buffer.concat([this.#held, bytes])
    let at = 0
    while (!this.#head) {
      const text = headIn(all, at)
      if (text === undefined) return this.#hold(all, at, bytes.length)
      if (text.length > maxHeadBytes) throw new InvalidMessageError('head-too-large', 'the head is too long')
      const headBytes = text.length + headEnd.length
      this.#takeHead(this.#heads.parse(text, this.#method), headBytes)
      at += headBytes
    }
    this.#held = noBytes
    return this.#readBody(all, at) - heldBefore
  }

  /** The connection has ended: that is how some bodies end. @throws InvalidMessageError where the answer is cut off */
  finish(): void {
    if (this.#head?.framing.by !== 'close') throw new InvalidMessageError('incomplete', 'the answer breaks off')
    this.#end()
  }

  #hold(all: Buffer, from: number, readBytes: number): number {
    if (all.length - from > maxHeadBytes) throw new InvalidMessageError('head-too-large', 'the head is too long')
    if (!couldBegin(all, from))
      throw new InvalidMessageError('bad-status-line', 'the answer does not begin with a status line')
    this.#held = Buffer.from(all.subarray(from))
    return readBytes
  }

  #takeHead(head: UpstreamHead, headBytes: number): void {
    const isUpgrade = head.status === 101
    if (isUpgrade && !this.#mayUpgrade)
      throw new InvalidMessageError('bad-interim-response', 'the answer switches to a protocol that was not requested')
    if (head.status < 200 && !isUpgrade) {
      this.#interimBytes += headBytes
      if (this.#interimBytes > maxInterimBytes)
        throw new InvalidMessageError('bad-interim-response', 'the interim answers are too long')
      return
    }
    this.#head = head
    if (head.framing.by === 'length') this.#owedBytes = head.framing.bytes
    else if (head.framing.by === 'chunks') this.#chunks = new ChunkedDecoder('lenient')
    this.#listener.onHead(head)
  }

  #readBody(bytes: Buffer, at: number): number {
    if (this.#isDone) return at
    if (this.#chunks) return this.#readChunks(this.#chunks, bytes, at)
    if (this.#head?.framing.by === 'close') {
      if (at < bytes.length) this.#listener.onData(at === 0 ? bytes : bytes.subarray(at))
      return bytes.length
    }
    const end = Math.min(bytes.length, at + this.#owedBytes)
    this.#owedBytes -= end - at
    if (end > at) this.#listener.onData(bytes.subarray(at, end))
    if (this.#owedBytes === 0) this.#end()
    return end
  }

  #readChunks(chunks: ChunkedDecoder, bytes: Buffer, at: number): number {
    const end = chunks.read(bytes, at, piece => this.#listener.onData(piece))
    if (chunks.isDone) this.#end()
    return end
  }

  #end(): void {
    this.#isDone = true
    this.#listener.onEnd()
  }
}

/** Nearly all heads are shorter. */
const usualHeadBytes = 2048

/** The text of a head without the empty line at its end; undefined: its end has not come. */
const headIn = (bytes: Buffer, at: number): string | undefined => {
  const text = bytes.toString('latin1', at, Math.min(bytes.length, at + usualHeadBytes))
  const end = text.indexOf(headEnd)
  if (end >= 0) return text.slice(0, end)
  if (bytes.length - at <= usualHeadBytes) return undefined
  const found = bytes.indexOf(headEnd, at)
  return found < 0 ? undefined : bytes.toString('latin1', at, found)
}

const statusLineBegins = 'HTTP/1.'

/** Whether a head that has not ended begins as one: what is no HTTP need not be waited for. */
const couldBegin = (bytes: Buffer, at: number): boolean => {
  const begin = bytes.toString('latin1', at, at + statusLineBegins.length)
  return statusLineBegins.startsWith(begin)
}
