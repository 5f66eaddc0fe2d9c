import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { isatty, WriteStream } from 'node:tty'

/** A file descriptor for standard output or standard error whose reader may stop: a write to it does not wait. */
export interface NonBlockingOutput {
  /**
   * @returns how many bytes the kernel took: fewer than there are if the reader is slow
   * @throws Error if the output cannot be written at all, as when its reader has gone or the disk is full
   */
  write(chunk: Buffer): number
}

/**
 * O_NONBLOCK belongs to the open file description, which every process that inherited the descriptor shares. So a pipe
 * or a terminal is opened once more, for this process alone. A UNIX socket (the journal of systemd) cannot be opened
 * again, nor can a pipe or a terminal of another user. Then the flag is set on the shared description, and set again
 * before each write, because libuv clears it in every child process that inherits the descriptor, and Node restores it
 * when a process ends. A regular file has no reader and no such flag.
 */
export const openOutput = (fd: 1 | 2): NonBlockingOutput => {
  const own = reopen(fd)
  if (own !== undefined) return { write: chunk => writeUntilFull(own, chunk) }
  const setNonBlocking = shareNonBlocking(fd)
  return {
    write(chunk) {
      setNonBlocking()
      return writeUntilFull(fd, chunk)
    },
  }
}

/** Undefined if the kernel does not open it again. */
const reopen = (fd: number): number | undefined => {
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    const stat = fstatSync(fd)
    return stat.isFIFO() || stat.isCharacterDevice()
      ? openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
      : undefined
  } catch {
    return undefined
  }
}

/** The method of Node's own that sets or clears O_NONBLOCK. There is no public one. */
interface Handle {
  setBlocking?(isBlocking: boolean): number
}

/** @returns sets O_NONBLOCK on the open file description, which costs one system call */
const shareNonBlocking = (fd: number): (() => void) => {
  try {
    if (fstatSync(fd).isFile()) return () => undefined
    // Its handle stays open as long as the process: a handle of Node's is not collected until it is closed.
    const stream = isatty(fd) ? new WriteStream(fd) : new Socket({ fd, readable: false, writable: true })
    const { _handle: handle } = stream as unknown as { readonly _handle: Handle }
    return () => void handle.setBlocking?.(false)
  } catch {
    // Neither a pipe nor a stream socket nor a terminal.
    return () => undefined
  }
}

const writeUntilFull = (fd: number, chunk: Buffer): number => {
  try {
    return writeSync(fd, chunk)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw error
  }
}
