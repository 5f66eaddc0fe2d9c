import { closeSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { ConfigSource } from './config-source.ts'
import { watchConfig } from './config-watch.ts'
import type { Reload } from './reload.ts'

/**
 * Reloads at SIGHUP and whenever the files have changed, until closed.
 * @param ready resolves when all workers serve; reloads wait for it
 */
export const followConfig = (reload: Reload, source: ConfigSource, ready: Promise<void>): { close(): void } => {
  const hasTerminal = isatty(0)
  const onHangup = (): void => {
    // Closing a terminal sends the same signal. Then the operator could not stop Sidegate any longer, so it stops.
    if (hasTerminal && !isTerminalThere()) process.kill(process.pid, 'SIGINT')
    else void ready.then(() => reload.now('signal'))
  }
  process.on('SIGHUP', onHangup)
  const watch = watchConfig(source, () => ready.then(() => reload.now('file')))
  return {
    close() {
      watch.close()
      process.off('SIGHUP', onHangup)
    },
  }
}

/** tty(4): /dev/tty cannot be opened by a process that has lost its terminal. */
const isTerminalThere = (): boolean => {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
