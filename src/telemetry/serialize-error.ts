import { pino } from 'pino'

/**
 * The facts about an unexpected error on a log line. Other members of the error may contain the query to a store, and
 * so a token.
 */
export interface SerializedError {
  readonly type: string
  readonly message: string
  /**
   * File, line and column, relative to the program's folder; left out if the error was thrown outside of the program.
   */
  readonly at?: string
}

/** @param thrown the thrown value, an error or not */
export const serializeError = (thrown: unknown): SerializedError => {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) }
  const { type, message, stack } = pino.stdSerializers.err(thrown)
  const at = ownPlaceIn(stack)
  return { type, message, ...(at !== undefined && { at }) }
}

/**
 * The first place of the stack that is in our own code. The stack itself is not logged, because it shows how and where
 * Sidegate is installed.
 */
const ownPlaceIn = (stack: string): string | undefined =>
  stack
    .split('\n')
    .filter(line => line.startsWith('    at ') && !line.includes('/node_modules/'))
    .map(line => /\/(src\/[\w./-]+\.ts:\d+:\d+)\)?$/.exec(line)?.[1])
    .find(place => place !== undefined)
