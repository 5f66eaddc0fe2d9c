import { poll } from '../../poll.ts'
import type { ConfigSource } from './config-source.ts'

/** Checks whether the content of the configuration's files has changed since they were loaded. */
export interface ConfigWatch {
  close(): void
}

/**
 * Mounted files are replaced by changing symbolic links, which watching a file does not report, so the files are
 * polled.
 */
const lookEveryMs = 1000

/**
 * @param onChange called once for each new content, after two checks have found the same, because a file may be half
 * written
 */
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
