import { type DisabledChecks, parseFieldLines, RefusedError, refuseIf } from './strict-head.ts'

const maxLineBytes = 4096
const maxTrailerBytes = 16_384

/** The chunked coding of RFC 9112 section 7.1, without the whitespace that it only allows a recipient to tolerate. */
export class StrictChunks {
  isDone = false
  readonly #disabled: DisabledChecks
  #state: 'size' | 'data' | 'data-end' | 'trailers' = 'size'
  #left = 0

  constructor(disabled: DisabledChecks) {
    this.#disabled = disabled
  }

  /**
   * @returns what is left of the text
   * @throws RefusedError
   */
  read(text: string, onData: (text: string) => void): string {
    let rest = text
    for (let before = ''; rest !== before && !this.isDone; ) {
      before = rest
      rest = this.#readPart(rest, onData)
    }
    return rest
  }

  #readPart(text: string, onData: (text: string) => void): string {
    switch (this.#state) {
      case 'size':
        return this.#readLine(text, line => this.#takeSize(line))
      case 'data':
        return this.#readData(text, onData)
      case 'data-end':
        return this.#readDataEnd(text)
      case 'trailers':
        return this.#readTrailers(text)
    }
  }

  #readLine(text: string, take: (line: string) => void): string {
    const end = text.indexOf('\n')
    refuseIf('chunk-line-too-long', (end < 0 ? text.length : end) > maxLineBytes, this.#disabled)
    if (end < 0) return text
    if (text[end - 1] === '\r') take(text.slice(0, end - 1))
    else {
      refuseIf('bad-chunk-size', true, this.#disabled)
      take(text.slice(0, end))
    }
    return text.slice(end + 1)
  }

  #takeSize(line: string): void {
    const [size = '', ...extensions] = line.split(';')
    refuseIf('bad-chunk-size', !/^[0-9A-Fa-f]{1,13}$/.test(size), this.#disabled)
    refuseIf(
      'bad-chunk-extension',
      !extension.test(`;${extensions.join(';')}`) && extensions.length > 0,
      this.#disabled,
    )
    this.#left = Number.parseInt(size, 16) || 0
    this.#state = this.#left === 0 ? 'trailers' : 'data'
  }

  #readData(text: string, onData: (text: string) => void): string {
    const piece = text.slice(0, this.#left)
    if (piece !== '') onData(piece)
    this.#left -= piece.length
    if (this.#left === 0) this.#state = 'data-end'
    return text.slice(piece.length)
  }

  #readDataEnd(text: string): string {
    if (!'\r\n'.startsWith(text.slice(0, 2))) {
      refuseIf('bad-chunk-end', true, this.#disabled)
      this.#state = 'size'
      return text
    }
    if (text.length < 2) return text
    this.#state = 'size'
    return text.slice(2)
  }

  #readTrailers(text: string): string {
    const end = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n')
    const bare = /\r(?!\n|$)|(?<!\r)\n/.exec(end < 0 ? text : text.slice(0, end + 2))
    refuseIf('bad-trailer', bare !== null && bare.index < maxTrailerBytes, this.#disabled)
    refuseIf('trailers-too-large', (end < 0 ? text.length : end) > maxTrailerBytes, this.#disabled)
    if (end < 0) return text
    if (end > 0) this.#checkTrailers(text.slice(0, end).split('\r\n'))
    this.isDone = true
    return text.slice(end === 0 ? 2 : end + 4)
  }

  #checkTrailers(lines: readonly string[]): void {
    const names = this.#trailerNames(lines)
    refuseIf(
      'forbidden-trailer',
      names.some(name => forbiddenTrailers.has(name)),
      this.#disabled,
    )
  }

  #trailerNames(lines: readonly string[]): readonly string[] {
    try {
      const fields = parseFieldLines(lines, new Set())
      return fields.filter((_, place) => place % 2 === 0).map(name => name.toLowerCase())
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      refuseIf('bad-trailer', true, this.#disabled)
      return []
    }
  }
}

/** RFC 9110 section 6.5.1: fields for framing, routing and the connection cannot come behind the content. */
export const forbiddenTrailers: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'proxy-connection',
  'upgrade',
  'host',
])

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[\\t\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"'
const extension = new RegExp(`^(?:;${token}(?:=(?:${token}|${quoted}))?)*$`)
