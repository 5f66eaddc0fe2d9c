import { constants, fstatSync, openSync, writeSync } from 'node:fs'

/**
 * Whole lines to standard output, gathered and written a few times a second. Where several workers share one pipe a
 * write of up to 4096 bytes is not torn apart (POSIX PIPE_BUF), so lines are gathered up to that. A reader that stalls
 * must not stall the gateway: a pipe is written without blocking, lines wait in a bounded buffer, then are dropped and
 * counted.
 */
export interface LineWriter {
  /** @param line ends with a newline */
  write(line: string): void
  /** Writes what has gathered, as far as the reader takes it. */
  flush(): void
}

const atomicBytes = 4096
const maxWaitingBytes = 16 * 1024 * 1024
const flushEveryMs = 100

/** @param onDropped told how many lines were lost, once the reader takes lines again */
export const createLineWriter = (onDropped: (lines: number) => void): LineWriter => {
  const fd = nonBlockingStdout()
  const waiting: Buffer[] = []
  let gathering = ''
  let waitingBytes = 0
  let dropped = 0

  const enqueue = (): void => {
    if (gathering === '') return
    const chunk = Buffer.from(gathering)
    gathering = ''
    waiting.push(chunk)
    waitingBytes += chunk.length
  }
  const drain = (): void => {
    for (let chunk = waiting[0]; chunk !== undefined && tryWrite(fd, chunk); chunk = waiting[0]) {
      waiting.shift()
      waitingBytes -= chunk.length
    }
    if (dropped === 0 || waiting.length > 0) return
    onDropped(dropped)
    dropped = 0
  }
  const flush = (): void => {
    enqueue()
    drain()
  }

  setInterval(flush, flushEveryMs).unref()
  return {
    write(line) {
      if (gathering.length + line.length > atomicBytes) flush()
      if (waitingBytes > maxWaitingBytes) dropped++
      else gathering += line
    },
    flush,
  }
}

/** A pipe is opened once more, for ourselves alone: "do not block" is a mark of what is opened, shared by all who hold it. */
const nonBlockingStdout = (): number => {
  try {
    return fstatSync(1).isFIFO() ? openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK) : 1
  } catch {
    return 1
  }
}

/** False where the reader takes nothing more now. A reader that has gone (EPIPE) loses its lines; the gateway goes on. */
const tryWrite = (fd: number, chunk: Buffer): boolean => {
  try {
    writeSync(fd, chunk)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN'
  }
}
