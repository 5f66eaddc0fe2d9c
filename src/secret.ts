import { inspect } from 'node:util'

/**
 * A text that must not be seen. It shows as `[secret]` wherever it is printed, logged, joined or serialised; only
 * `reveal()` gives it out. Everything secret in the configuration and on its way through the code has this type.
 */
export class Secret {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  reveal(): string {
    return this.#text
  }
  toString(): string {
    return '[secret]'
  }
  toJSON(): string {
    return '[secret]'
  }
  [inspect.custom](): string {
    return '[secret]'
  }
}
