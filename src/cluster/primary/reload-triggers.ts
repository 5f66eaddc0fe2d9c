import { closeSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { ConfigSource } from './config-source.ts'
import { watchConfig } from './config-watch.ts'
import type { Reload } from './reload.ts'

/**
 * Reloads at SIGHUP and whenever the files have changed, until closed.
 * @param ready resolves when all workers serve: until then whoever asks waits
 */
export const followConfig = (reload: Reload, source: ConfigSource, ready: Promise<void>): { close(): void } => {
  const hasTerminal = isatty(0)
  const onHangup = (): void => {
    // A terminal that is closed sends the same signal: then nobody is left to stop us.
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
