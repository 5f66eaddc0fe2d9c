import { InvalidAnswerError } from './answer-head.ts'

/** Longest size line, extensions included, and longest trailer section, in bytes. */
const maxLineBytes = 4096
const maxTrailerBytes = 16_384

/**
 * Takes a body out of its chunks (RFC 9112 section 7.1), whatever pieces the bytes come in. Extensions and trailers end
 * here: what is in them has been promised to nobody.
 */
export class ChunkedBody {
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'done' = 'size'
  /** A line that has not ended yet, latin1. */
  #line = ''
  #owedBytes = 0
  #trailerBytes = 0

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /**
   * @param bytes read from `at` on
   * @param onData gets views of `bytes`, for the time of the call
   * @returns how far it has read: to the end of `bytes`, or of the body
   * @throws InvalidAnswerError
   */
  read(bytes: Buffer, at: number, onData: (piece: Buffer) => void): number {
    let place = at
    while (place < bytes.length && this.#state !== 'done') {
      if (this.#state !== 'data') {
        place = this.#readLine(bytes, place)
        continue
      }
      const end = Math.min(bytes.length, place + this.#owedBytes)
      onData(bytes.subarray(place, end))
      this.#owedBytes -= end - place
      place = end
      if (this.#owedBytes === 0) this.#state = 'data-end'
    }
    return place
  }

  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(0x0a, at)
    const piece = bytes.toString('latin1', at, end < 0 ? bytes.length : end + 1)
    this.#line += piece
    if (this.#line.length > maxLineBytes) throw new InvalidAnswerError('a line between chunks is too long')
    if (end < 0) return bytes.length
    const line = this.#line
    this.#line = ''
    if (!line.endsWith('\r\n')) throw new InvalidAnswerError('a line between chunks is broken')
    this.#take(line.slice(0, -2))
    return end + 1
  }

  #take(line: string): void {
    if (this.#state === 'size') {
      const size = sizeLine.exec(line)?.[1]
      if (size === undefined) throw new InvalidAnswerError('a chunk has no size')
      this.#owedBytes = Number.parseInt(size, 16)
      this.#state = this.#owedBytes === 0 ? 'trailer' : 'data'
    } else if (this.#state === 'data-end') {
      if (line !== '') throw new InvalidAnswerError('a chunk is longer than its size')
      this.#state = 'size'
    } else {
      this.#trailerBytes += line.length
      if (this.#trailerBytes > maxTrailerBytes) throw new InvalidAnswerError('the trailers are too long')
      if (line === '') this.#state = 'done'
    }
  }
}

/** Up to 2^52 bytes; an extension is told from a size that goes on by its sign, blanks before it being bad whitespace. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be in an extension
const sizeLine = /^([0-9A-Fa-f]{1,13})(?:[ \t]*;[^\0-\x08\x0a-\x1f\x7f]*)?$/
