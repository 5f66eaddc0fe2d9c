/** One hard case for a gateway: bytes, and what may come of them. Driven by raw-cases.test.ts. */
export interface RawCase {
  /** As in the list of hard cases; a letter behind it marks a neighbour. */
  readonly id: string
  readonly what: string
  /**
   * `BASE` stands for the path of the grouping under test (`BASE-guarded` for the one that asks for a token), `HOST` for a good
   * Host line, `TOKEN` for a good access token.
   */
  readonly bytes: string
  /** Statuses that the first answer may have. */
  readonly statuses: readonly number[]
  /** The same of the answers that follow, interim ones left out; none where left out. */
  readonly further?: readonly (readonly number[])[]
  /** The connection ends after the answers. */
  readonly closes?: boolean
  /** Most requests that may reach the upstream; none where left out. A 200 means that they did. */
  readonly forwarded?: number
  /** What the forwarded request must hold, in this body. */
  readonly body?: RegExp
  /** What the forwarded request must say, each field once; undefined: not at all. */
  readonly fields?: Readonly<Record<string, string | undefined>>
}

/** What stands in a hostile value; it may reach no upstream in a field. */
export const hostile = 'evil'

/** What cannot be read in one way only. */
export const refused = { statuses: [400], closes: true } as const

/** What is read in one way, and forwarded as that. */
export const passed = { statuses: [200], forwarded: 1 } as const

/** Letters for neighbours: a, b, … z, aa, ab, … */
export const letter = (place: number): string =>
  (place < 26 ? '' : letter(Math.floor(place / 26) - 1)) + String.fromCharCode(97 + (place % 26))

/** A request with these lines under its request line; `HOST` is the first of them. */
export const request = (line: string, lines: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'HOST', ...lines, '', body].join('\r\n')

/** Neighbours of one case, lettered in order. */
export const neighbours = <T>(
  id: string,
  values: readonly T[],
  toCase: (value: T) => Omit<RawCase, 'id'>,
): readonly RawCase[] => values.map((value, place) => ({ id: `${id}${letter(place)}`, ...toCase(value) }))

/** A text as a title may hold it: short, and without control characters. */
export const shown = (text: string): string => JSON.stringify(text).slice(1, -1).slice(0, 60)
