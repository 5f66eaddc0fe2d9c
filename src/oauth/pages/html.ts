/** Safe markup. Only the `html` tag creates it, and that tag escapes every value that is not `Html`. */
export class Html {
  readonly #markup: string
  constructor(markup: string) {
    this.#markup = markup
  }
  toString(): string {
    return this.#markup
  }
}

export type HtmlPart = Html | string | number | undefined | readonly Html[]

/** Template tag: the literal text is markup, every value is text unless it is `Html`. Undefined becomes nothing. */
export const html = (literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  new Html(literals.map((literal, index) => literal + toMarkup(parts[index])).join(''))

/** The one escaping function, good for element content and for attribute values in double quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, char => entities.get(char) ?? char)

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

const toMarkup = (part: HtmlPart): string => {
  if (part === undefined) return ''
  if (part instanceof Html) return part.toString()
  return typeof part === 'object' ? part.join('') : escapeHtml(String(part))
}
