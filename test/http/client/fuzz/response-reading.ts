/** How a parser reads an answer, and the end of the connection behind it. Texts are latin1. */
export type ResponseReading =
  | {
      readonly is: 'accepted'
      readonly status: number
      /** Names and values in turn, without Date and Content-Length, which our parser keeps apart. */
      readonly fields: readonly string[]
      readonly body: string
    }
  | { readonly is: 'refused'; readonly reason: string }

/** Without the fields that our parser keeps apart. */
export const comparableFields = (rawHeaders: readonly string[]): readonly string[] => {
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    if (!/^(?:date|content-length)$/i.test(name)) kept.push(name, value)
  }
  return kept
}
