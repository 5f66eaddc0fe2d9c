import { InvalidMessageError } from '../message/invalid-message.ts'
import type { HttpServerOptions } from './options.ts'
import { checkIncompleteHead, parseRequestHead, type RequestHead } from './request-parser.ts'

const headEnd = '\r\n\r\n'

/** Reads the heads of one connection's requests, one after another, from pieces of any size. */
export class HeadReader {
  readonly #limits: Pick<HttpServerOptions, 'maxHeaderBytes' | 'maxHeaderFields'>
  /** Bytes of complete lines of an incomplete head, which were checked already. */
  #checkedBytes = 0
  #rest: Buffer | undefined
  #lastHead: RequestHead | undefined

  constructor(limits: Pick<HttpServerOptions, 'maxHeaderBytes' | 'maxHeaderFields'>) {
    this.#limits = limits
  }

  /**
   * The bytes that `read` did not use: an incomplete head, or the bytes after a complete one. Undefined: all were used.
   */
  get rest(): Buffer | undefined {
    return this.#rest
  }

  /**
   * @param bytes from the beginning of the head on
   * @returns undefined: the head is incomplete
   * @throws InvalidMessageError
   */
  read(bytes: Buffer): RequestHead | undefined {
    const { maxHeaderBytes } = this.#limits
    const at = endOfEmptyLines(bytes)
    const mostBytes = maxHeaderBytes + headEnd.length
    const text = bytes.toString('latin1', at, Math.min(bytes.length, at + mostBytes))
    const end = text.indexOf(headEnd)
    if (end >= 0) {
      this.#checkedBytes = 0
      this.#rest = restOf(bytes, at + end + headEnd.length)
      return this.#parse(text.slice(0, end))
    }
    this.#rest = restOf(bytes, at)
    if (text.length === mostBytes) {
      checkIncompleteHead(text)
      throw new InvalidMessageError('head-too-large', 'the head is too large')
    }
    this.#checkedBytes = checkIncompleteHead(text, this.#checkedBytes)
    return undefined
  }

  /** Frees the head that was read last. */
  forget(): void {
    this.#lastHead = undefined
  }

  /** Clients such as pollers and load generators repeat the same head, which is parsed only once. */
  #parse(text: string): RequestHead {
    if (this.#lastHead?.text === text) return this.#lastHead
    this.#lastHead = parseRequestHead(text, this.#limits.maxHeaderFields)
    return this.#lastHead
  }
}

/** The index of the first line. A server ignores empty lines before it (RFC 9112 section 2.2). */
const endOfEmptyLines = (bytes: Buffer): number => {
  let at = 0
  while (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) at += 2
  return at
}

const restOf = (bytes: Buffer, at: number): Buffer | undefined => {
  if (at === 0) return bytes
  return at === bytes.length ? undefined : bytes.subarray(at)
}
