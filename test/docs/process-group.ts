import type { ChildProcess } from 'node:child_process'

/** Ends a process that was started `detached`, and all that it has started. */
export const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // No process of the group is left.
  }
}
