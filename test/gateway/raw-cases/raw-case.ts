/** One hard case for a gateway: bytes, and the allowed outcomes. Driven by raw-cases.test.ts. */
export interface RawCase {
  /** The line of checklist.md, then the name of a variant; a letter at the end marks a neighbour. */
  readonly id: string
  readonly what: string
  /**
   * `BASE` stands for the path of the grouping under test (`BASE-guarded` for the grouping that requires a token),
   * `HOST` for a valid Host line, `TOKEN` for a valid access token.
   */
  readonly bytes: string
  /** The allowed statuses of the first response. */
  readonly statuses: readonly number[]
  /** The allowed statuses of the later responses, without interim ones. */
  readonly further?: readonly (readonly number[])[]
  /** The connection ends after the responses. */
  readonly closes?: boolean
  /** The maximum number of requests that reach the upstream, 0 by default. After a 200 it is the exact number. */
  readonly forwarded?: number
  /** The body of each forwarded request. */
  readonly body?: RegExp
  /** Fields of each forwarded request, each exactly once; undefined: the field must be absent. */
  readonly fields?: Readonly<Record<string, string | undefined>>
}

/** The text of hostile values; no field with it may reach an upstream. */
export const hostile = 'evil'

/** The outcome of an ambiguous request. */
export const refused = { statuses: [400], closes: true } as const

/** The outcome of an unambiguous request: it is forwarded. */
export const passed = { statuses: [200], forwarded: 1 } as const

/** Letters for variants: a, b, … z, aa, ab, … */
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

/** A text for a title: short, and without control characters. */
export const shown = (text: string): string => JSON.stringify(text).slice(1, -1).slice(0, 60)
