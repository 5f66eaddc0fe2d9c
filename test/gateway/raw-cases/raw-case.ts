/** One hard case for a gateway: bytes, and what may come of them. Driven by raw-cases.test.ts. */
export interface RawCase {
  /** As in the list of hard cases; a letter behind it marks a neighbour. */
  readonly id: string
  readonly what: string
  /** `BASE` stands for the path of the grouping under test, `HOST` for a good Host line. */
  readonly bytes: string
  /** Statuses that the first answer may have. */
  readonly statuses: readonly number[]
  /** The connection ends after the answer. */
  readonly closes?: boolean
  /** Most requests that may reach the upstream; none where left out. */
  readonly forwarded?: number
  /** What the forwarded request must hold, in this body. */
  readonly body?: RegExp
}

/** What stands in a hostile value; it may reach no upstream in a field. */
export const hostile = 'evil'

/** What cannot be read in one way only. */
export const refused = { statuses: [400], closes: true } as const
