import { hasInvalidByte, isToken } from './grammar.ts'
import { InvalidMessageError } from './invalid-message.ts'

/** Longest size line, extensions included, and longest trailer section, in bytes. */
const maxLineBytes = 4096
const maxTrailerBytes = 16_384

/**
 * Decodes the chunked transfer coding (RFC 9112 section 7.1) from pieces of any size. Chunk extensions and trailers are
 * checked and dropped.
 */
export class ChunkedDecoder {
  readonly #form: SizeLineForm
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'done' = 'size'
  /** An incomplete line, latin1. */
  #line = ''
  /** Bytes of the current chunk that are still missing. */
  #leftBytes = 0
  #trailerBytes = 0

  /**
   * @param extensions `lenient`: as RFC 9112 asks of recipients; `strict`: only extensions that all recipients parse
   * alike
   */
  constructor(extensions: 'strict' | 'lenient') {
    this.#form = extensions === 'strict' ? strict : lenient
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /**
   * @param bytes are read from `at` on
   * @param onData receives views of `bytes`, which are valid only during the call
   * @returns where reading stopped: at the end of `bytes`, or after the end of the body
   * @throws InvalidMessageError
   */
  read(bytes: Buffer, at: number, onData: (piece: Buffer) => void): number {
    let offset = at
    while (offset < bytes.length && this.#state !== 'done') {
      if (this.#state !== 'data') {
        offset = this.#readLine(bytes, offset)
        continue
      }
      const end = Math.min(bytes.length, offset + this.#leftBytes)
      onData(bytes.subarray(offset, end))
      this.#leftBytes -= end - offset
      offset = end
      if (this.#leftBytes === 0) this.#state = 'data-end'
    }
    return offset
  }

  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(0x0a, at)
    const piece = bytes.toString('latin1', at, end < 0 ? bytes.length : end + 1)
    this.#line += piece
    const line = this.#line
    // This check runs first, for complete lines too, so that the reason does not depend on where the bytes are cut.
    const maxBytes = this.#state === 'trailer' ? maxTrailerBytes : maxLineBytes
    this.#checkBeginning(line.slice(0, line.endsWith('\n') ? Math.min(maxBytes, line.length - 1) : maxBytes))
    if (line.length > maxBytes) throw this.#tooLong()
    if (end < 0) return bytes.length
    this.#line = ''
    if (!line.endsWith('\r\n')) throw new InvalidMessageError('bare-cr-or-lf', 'a line between chunks has no CRLF')
    this.#takeLine(line.slice(0, -2))
    return end + 1
  }

  /** Refuses an invalid line before its end has arrived. @param text of a line, without its LF */
  #checkBeginning(text: string): void {
    if (this.#state === 'data-end' && text !== '' && text !== '\r') throw badChunkEnd()
    if (this.#state === 'size' && !this.#form.beginning.test(text)) throw badSize()
  }

  #takeLine(line: string): void {
    if (this.#state === 'size') {
      const size = this.#form.whole.exec(line)?.[1]
      if (size === undefined) throw badSize()
      this.#leftBytes = Number.parseInt(size, 16)
      this.#state = this.#leftBytes === 0 ? 'trailer' : 'data'
    } else if (this.#state === 'data-end') {
      this.#state = 'size'
    } else {
      this.#takeTrailer(line)
    }
  }

  #tooLong(): InvalidMessageError {
    return this.#state === 'trailer'
      ? new InvalidMessageError('trailers-too-large', 'the trailers are too large')
      : new InvalidMessageError('chunk-line-too-long', 'a line between chunks is too long')
  }

  #takeTrailer(line: string): void {
    this.#trailerBytes += line.length
    if (this.#trailerBytes > maxTrailerBytes) throw this.#tooLong()
    if (line === '') this.#state = 'done'
    else checkTrailer(line)
  }
}

/** RFC 9110 section 6.5.1: fields that frame the message must not stand in trailers. */
const framingFields: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

const checkTrailer = (line: string): void => {
  const name = line.slice(0, Math.max(0, line.indexOf(':')))
  if (!isToken(name) || hasInvalidByte(line)) {
    throw new InvalidMessageError('bad-trailer', 'a line of the trailers is not a field')
  }
  if (framingFields.has(name.toLowerCase())) {
    throw new InvalidMessageError('forbidden-trailer', 'a field that frames the message stands in its trailers')
  }
}

const badSize = (): InvalidMessageError => new InvalidMessageError('bad-chunk-size', 'a chunk has no valid size')
const badChunkEnd = (): InvalidMessageError =>
  new InvalidMessageError('bad-chunk-end', 'a chunk is longer than its size')

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"'

/** The syntax of a size line, and of the beginning of one. */
interface SizeLineForm {
  readonly whole: RegExp
  readonly beginning: RegExp
}

/** A size of up to 2^52 bytes, then extensions, without the white space that RFC 9112 section 7.1.1 calls bad. */
const strict: SizeLineForm = {
  whole: new RegExp(`^([0-9A-Fa-f]{1,13})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: characters that an extension must not have
  beginning: /^(?:[0-9A-Fa-f]{1,13}(?:;[^\0-\x08\x0a-\x1f\x7f]*)?\r?)?$/,
}

/** With that white space, and with extensions whose syntax is not checked. */
const lenient: SizeLineForm = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: characters that an extension must not have
  whole: /^([0-9A-Fa-f]{1,13})(?:[ \t]*;[^\0-\x08\x0a-\x1f\x7f]*)?$/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: characters that an extension must not have
  beginning: /^(?:[0-9A-Fa-f]{1,13}[ \t]*(?:;[^\0-\x08\x0a-\x1f\x7f]*)?\r?)?$/,
}
