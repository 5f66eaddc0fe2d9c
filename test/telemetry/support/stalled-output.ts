/** Standard outputs whose reader does not read: a pipe, a UNIX socket as systemd's journal uses, and a terminal. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { scriptProgram } from '../../cli/top/terminal.ts'
import { eventually } from '../../support/eventually.ts'
import { childrenOf } from '../../support/memory.ts'

/** A program whose standard output has a stalled reader. */
export interface Stalled {
  readonly pid: number
  /** Resolves to the exit code once the program has exited; its output is not read until then. */
  readonly ended: () => Promise<number | null>
}

/** Starts a program on such an output; `isRunning` resolves when the reader may stop. */
export type StartStalled = (t: Test, command: readonly string[], isRunning: () => Promise<void>) => Promise<Stalled>

export const onPipe: StartStalled = async (t, command, isRunning) => {
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  // An open for both reading and writing does not wait for the other end.
  const fd = openSync(pipe, constants.O_RDWR)
  t.teardown(() => closeSync(fd))
  const child = start(t, command, fd)
  await isRunning()
  return { pid: child.pid ?? 0, ended: () => exitOf(child) }
}

/** Node's "pipe" to a child process is a pair of UNIX sockets. Nothing is read from it, except 64 KiB of read-ahead. */
export const onUnixSocket: StartStalled = async (t, command, isRunning) => {
  const child = start(t, command, 'pipe')
  await isRunning()
  return { pid: child.pid ?? 0, ended: () => exitOf(child) }
}

/** `script` creates a terminal and reads from it until SIGSTOP stops `script`. */
export const onTerminal: StartStalled = async (t, command, isRunning) => {
  const words = `exec ${command.map(word => `'${word}'`).join(' ')}`
  const script = start(t, [scriptProgram, '-qefc', words, '/dev/null'], 'ignore')
  await isRunning()
  const [pid = 0] = childrenOf(script.pid ?? 0)
  t.teardown(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  script.kill('SIGSTOP')
  return {
    pid,
    async ended() {
      await eventually(() => !isAlive(pid))
      script.kill('SIGCONT')
      return await exitOf(script)
    },
  }
}

const start = (t: Test, [program = '', ...args]: readonly string[], stdout: number | 'pipe' | 'ignore') => {
  const env = { ...process.env, SHELL: '/bin/sh', TERM: 'xterm' }
  const child = spawn(program, args, { stdio: ['ignore', stdout, 'inherit'], env })
  t.teardown(() => void child.kill('SIGKILL'))
  return child
}

const exitOf = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

/** Whether the process runs. A zombie, which has exited and waits for its parent, does not count as running. */
const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z'
  } catch {
    return false
  }
}
