/** The style of a part of a line, on a terminal with colours. */
export type Tone = 'plain' | 'strong' | 'faint' | 'warn' | 'bad'

/** A part of a line. Its text is printable ASCII, a column for each character. */
export interface Part {
  readonly text: string
  readonly tone: Tone
}

export type StyledLine = readonly Part[]

export const part = (text: string, tone: Tone = 'plain'): Part => ({ text, tone })

/** The text of at most `width` columns. */
export const toText = (line: StyledLine, width: number, hasColours: boolean): string => {
  let left = width
  let text = ''
  for (const { text: whole, tone } of line) {
    const shown = whole.slice(0, left)
    left -= shown.length
    text += hasColours && shown !== '' ? paint(shown, tone) : shown
  }
  return hasColours ? text : text.trimEnd()
}

/** ECMA-48 section 8.3.117 (SGR). */
const codes = { plain: '', strong: '1', faint: '2', warn: '33', bad: '1;31' } as const

const paint = (text: string, tone: Tone): string => (tone === 'plain' ? text : `\u001b[${codes[tone]}m${text}\u001b[m`)
