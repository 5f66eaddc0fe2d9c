import { poll } from '../../poll.ts'
import type { ConfigSource } from './config-source.ts'

/** Looks whether the configuration's files still hold what was loaded from them. */
export interface ConfigWatch {
  close(): void
}

/** Mounted files change by a swap of links, which watching a file does not see: so it is looked for. */
const lookEveryMs = 1000

/** @param onChange told once of each new content, when two looks have found the same: a file may be half written */
export const watchConfig = (
  source: Pick<ConfigSource, 'loaded' | 'current'>,
  onChange: () => Promise<void>,
  everyMs = lookEveryMs,
): ConfigWatch => {
  let before: string | undefined
  let isClosed = false

  const look = async (): Promise<void> => {
    const content = await source.current()
    const isSettled = content === before
    before = content
    if (isSettled && content !== source.loaded() && !isClosed) await onChange()
  }

  const looking = poll(look, everyMs)
  return {
    close() {
      isClosed = true
      looking.close()
    },
  }
}
