import { ChunkedDecoder } from '../message/chunked-decoder.ts'
import { InvalidMessageError } from '../message/invalid-message.ts'
import type { UpstreamHead } from './response-head.ts'
import { UpstreamHeadParser } from './response-head-parser.ts'

/** Longest head of a response, in bytes. */
const maxHeadBytes = 65_536

/**
 * Most bytes of all interim responses before the final one. A server that reports progress by 102 may send hundreds.
 * The timeout for the final head is not restarted by them.
 */
const maxInterimBytes = 65_536

const headEnd = '\r\n\r\n'
const noBytes = Buffer.alloc(0)

/** Receives the parts of a response, in order. */
export interface ResponseHandler {
  /** The final response has begun. Interim ones (1xx) are skipped (RFC 9110 section 15.2). */
  onHead(head: UpstreamHead): void
  /** @param piece of the body; a view that is overwritten after the call */
  onData(piece: Buffer): void
  onEnd(): void
}

/** Parses one response from pieces of any size. */
export class ResponseParser {
  readonly #method: string
  readonly #heads: UpstreamHeadParser
  readonly #listener: ResponseHandler
  readonly #mayUpgrade: boolean
  #head: UpstreamHead | undefined
  /** The bytes of an incomplete head. */
  #held = noBytes
  #interimBytes = 0
  #chunks: ChunkedDecoder | undefined
  /** The missing bytes of a body whose length is known. */
  #owedBytes = 0
  #isDone = false

  /**
   * @param heads of the connection
   * @param mayUpgrade whether another protocol was requested: then 101 is the final response, and the bytes after it
   * are not a body
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

  /**
   * @returns how many bytes belong to the response
   * @throws InvalidMessageError
   */
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

  /** The connection has ended, which ends some bodies. @throws InvalidMessageError if the response is incomplete */
  finish(): void {
    if (this.#head?.framing.by !== 'close') throw new InvalidMessageError('incomplete', 'the response is incomplete')
    this.#end()
  }

  #hold(all: Buffer, from: number, readBytes: number): number {
    if (all.length - from > maxHeadBytes) throw new InvalidMessageError('head-too-large', 'the head is too long')
    if (!couldBegin(all, from))
      throw new InvalidMessageError('bad-status-line', 'the response does not begin with a status line')
    this.#held = Buffer.from(all.subarray(from))
    return readBytes
  }

  #takeHead(head: UpstreamHead, headBytes: number): void {
    const isUpgrade = head.status === 101
    if (isUpgrade && !this.#mayUpgrade)
      throw new InvalidMessageError(
        'bad-interim-response',
        'the response switches to a protocol that was not requested',
      )
    if (head.status < 200 && !isUpgrade) {
      this.#interimBytes += headBytes
      if (this.#interimBytes > maxInterimBytes)
        throw new InvalidMessageError('bad-interim-response', 'the interim responses are too long')
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

/** The text of a head without the empty line at its end. Undefined: it is incomplete. */
const headIn = (bytes: Buffer, at: number): string | undefined => {
  const text = bytes.toString('latin1', at, Math.min(bytes.length, at + usualHeadBytes))
  const end = text.indexOf(headEnd)
  if (end >= 0) return text.slice(0, end)
  if (bytes.length - at <= usualHeadBytes) return undefined
  const found = bytes.indexOf(headEnd, at)
  return found < 0 ? undefined : bytes.toString('latin1', at, found)
}

const statusLineBegins = 'HTTP/1.'

/** Whether an incomplete head may be one of HTTP. If not, the rest need not be awaited. */
const couldBegin = (bytes: Buffer, at: number): boolean => {
  const begin = bytes.toString('latin1', at, at + statusLineBegins.length)
  return statusLineBegins.startsWith(begin)
}
