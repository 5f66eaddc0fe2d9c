/**
 * The data of a text that is JSON, or undefined where it is not, or where a key stands twice in one object: then the YAML
 * reader, which knows JSON too, says what is wrong and where. It takes a hundred times as long, which a file with a hundred
 * thousand clients would feel at every start.
 * @returns objects without prototype; `null` becomes `undefined`, as a YAML key without value does
 */
export const readPlainJson = (text: string): unknown => {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    const reader = new Reader(text)
    const value = reader.readValue(0)
    return reader.isAtEnd() ? value : undefined
  } catch (error) {
    if (error instanceof NotPlainError) return undefined
    throw error
  }
}

class NotPlainError extends Error {
  override readonly name = 'NotPlainError'
}

/** No part of a configuration goes that deep; the YAML reader says so. */
const maxDepth = 100

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#skipBlanks()
    return this.#at === this.#text.length
  }

  readValue(depth: number): unknown {
    if (depth > maxDepth) throw new NotPlainError()
    this.#skipBlanks()
    switch (this.#text[this.#at]) {
      case '{':
        return this.#readObject(depth)
      case '[':
        return this.#readArray(depth)
      case '"':
        return this.#readString()
      default:
        return this.#readScalar()
    }
  }

  #readObject(depth: number): unknown {
    const object: Record<string, unknown> = Object.create(null)
    this.#at++
    if (this.#takes('}')) return object
    do {
      this.#skipBlanks()
      const key = this.#readString()
      if (key in object || !this.#takes(':')) throw new NotPlainError()
      object[key] = this.readValue(depth + 1)
    } while (this.#takes(','))
    if (!this.#takes('}')) throw new NotPlainError()
    return object
  }

  #readArray(depth: number): unknown {
    const array: unknown[] = []
    this.#at++
    if (this.#takes(']')) return array
    do array.push(this.readValue(depth + 1))
    while (this.#takes(','))
    if (!this.#takes(']')) throw new NotPlainError()
    return array
  }

  #readString(): string {
    const token = this.#match(stringToken)
    return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1)
  }

  #readScalar(): unknown {
    return (JSON.parse(this.#match(scalarToken)) as unknown) ?? undefined
  }

  #takes(sign: string): boolean {
    this.#skipBlanks()
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #skipBlanks(): void {
    blanks.lastIndex = this.#at
    blanks.test(this.#text)
    this.#at = blanks.lastIndex
  }

  #match(token: RegExp): string {
    token.lastIndex = this.#at
    const found = token.exec(this.#text)?.[0]
    if (found === undefined) throw new NotPlainError()
    this.#at += found.length
    return found
  }
}

const blanks = /[ \t\r\n]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them in a string (RFC 8259 section 7)
const stringToken = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y
const scalarToken = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
