import { pino } from 'pino'

/** What a bug says of itself in a log line. Other members of an error may hold what a store was asked, and so a token. */
export interface SerializedError {
  readonly type: string
  readonly message: string
  /** File, line and column below the program's folder; left out where it was thrown outside of the program. */
  readonly at?: string
}

/** @param thrown whatever was thrown, an error or not */
export const serializeError = (thrown: unknown): SerializedError => {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) }
  const { type, message, stack } = pino.stdSerializers.err(thrown)
  const at = ownPlaceIn(stack)
  return { type, message, ...(at !== undefined && { at }) }
}

/** The first place of a stack in our own code. The stack itself is no log's: it says how and where Sidegate is installed. */
const ownPlaceIn = (stack: string): string | undefined =>
  stack
    .split('\n')
    .filter(line => line.startsWith('    at ') && !line.includes('/node_modules/'))
    .map(line => /\/(src\/[\w./-]+\.ts:\d+:\d+)\)?$/.exec(line)?.[1])
    .find(place => place !== undefined)
