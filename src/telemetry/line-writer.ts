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
  /** Writes what has gathered; for the last lines of a process. Waits a second at most for a reader that has stalled. */
  flush(): void
}

const atomicBytes = 4096
const maxWaitingBytes = 16 * 1024 * 1024
/** How long a line may wait for others. */
const pushAfterMs = 100
/** How soon a reader that took no more is tried again, so that a backlog goes as fast as it reads. */
const retryAfterMs = 5
/** How long the last words of a process wait for a reader that has stalled. */
const lastWordsMs = 1000

/** @param onDropped told how many lines were lost, once the reader takes lines again */
export const createLineWriter = (onDropped: (lines: number) => void): LineWriter => {
  const fd = nonBlockingStdout()
  const waiting: Buffer[] = []
  let gathering = ''
  let waitingBytes = 0
  let dropped = 0
  let isRetrying = false
  let isDue = false

  const enqueue = (): void => {
    if (gathering === '') return
    const chunk = Buffer.from(gathering)
    gathering = ''
    waiting.push(chunk)
    waitingBytes += chunk.length
  }
  const drain = (): void => {
    for (let chunk = waiting[0]; chunk !== undefined; chunk = waiting[0]) {
      const written = tryWrite(fd, chunk)
      waitingBytes -= written
      if (written < chunk.length) {
        waiting[0] = chunk.subarray(written)
        break
      }
      waiting.shift()
    }
    if (waiting.length > 0) {
      retryLater()
      return
    }
    if (dropped > 0) onDropped(dropped)
    dropped = 0
  }
  const retryLater = (): void => {
    if (isRetrying) return
    isRetrying = true
    setTimeout(() => {
      isRetrying = false
      drain()
    }, retryAfterMs).unref()
  }
  const push = (): void => {
    enqueue()
    drain()
  }
  const pushSoon = (): void => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      push()
    }, pushAfterMs).unref()
  }

  return {
    write(line) {
      if (gathering.length + line.length > atomicBytes) push()
      if (waitingBytes > maxWaitingBytes) dropped++
      else gathering += line
      pushSoon()
    },
    flush() {
      const deadlineMs = performance.now() + lastWordsMs
      push()
      while (waiting.length > 0 && performance.now() < deadlineMs) {
        pause(retryAfterMs)
        drain()
      }
    },
  }
}

/** Blocks the process: for its last words alone. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** A pipe is opened once more, for ourselves alone: "do not block" is a mark of what is opened, shared by all who hold it. */
const nonBlockingStdout = (): number => {
  try {
    return fstatSync(1).isFIFO() ? openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK) : 1
  } catch {
    return 1
  }
}

/**
 * How many bytes the reader took: fewer than there are where it takes no more now. A reader that has gone (EPIPE) loses
 * its lines; the gateway goes on.
 */
const tryWrite = (fd: number, chunk: Buffer): number => {
  try {
    return writeSync(fd, chunk)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : chunk.length
  }
}
