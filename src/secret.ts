import { inspect } from 'node:util'

/**
 * A text that must not be shown. Printed, logged, joined or serialised it appears as `[secret]`; only `reveal()`
 * returns it. Every secret in the configuration and in the code has this type.
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
