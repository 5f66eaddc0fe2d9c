import { type NonBlockingOutput, openOutput } from './non-blocking-output.ts'

/**
 * Whole lines to standard output, gathered and written a few times a second. Where several workers share one pipe a
 * write of up to 4096 bytes is not torn apart (POSIX PIPE_BUF), so lines are gathered up to that. A reader that stalls
 * must not stall the gateway: output is written without blocking, lines wait in a bounded buffer, then are dropped and
 * counted.
 */
export interface StdoutWriter {
  /** @param line ends with a newline */
  write(line: string): void
  /** Writes what has gathered; for the last lines of a process. Waits a second at most for a reader that has stalled. */
  flush(): void
}

/** Two callbacks that learn of lines which the reader will never see. */
export interface DroppedLines {
  /** Lines are lost now. */
  onDrop(lines: number): void
  /** The reader takes lines again: how many were lost since the last call. */
  onResume(lines: number): void
}

const atomicBytes = 4096
const maxWaitingBytes = 16 * 1024 * 1024
/** How long a line may wait for others. */
const pushAfterMs = 100
/** How soon a reader that took no more is tried again, so that a backlog goes as fast as it reads. */
const retryAfterMs = 5
/** How long the last words of a process wait for a reader that has stalled. */
const lastWordsMs = 1000

export const createStdoutWriter = ({ onDrop, onResume }: DroppedLines): StdoutWriter => {
  const output = openOutput(1)
  const waiting: Buffer[] = []
  let scrapeFanOut = ''
  let waitingBytes = 0
  let dropped = 0
  let isRetrying = false
  let isDue = false

  const drop = (lines: number): void => {
    dropped += lines
    onDrop(lines)
  }
  const enqueue = (): void => {
    if (scrapeFanOut === '') return
    const chunk = Buffer.from(scrapeFanOut)
    scrapeFanOut = ''
    waiting.push(chunk)
    waitingBytes += chunk.length
  }
  const drain = (): void => {
    let hasWritten = false
    for (let chunk = waiting[0]; chunk !== undefined; chunk = waiting[0]) {
      const written = tryWrite(output, chunk)
      if (written === undefined) drop(countLines(chunk))
      else if (written > 0) hasWritten = true
      const taken = written ?? chunk.length
      waitingBytes -= taken
      if (taken < chunk.length) {
        waiting[0] = chunk.subarray(taken)
        break
      }
      waiting.shift()
    }
    if (waiting.length > 0) retryLater()
    else if (hasWritten && dropped > 0) resume()
  }
  const resume = (): void => {
    const lines = dropped
    dropped = 0
    onResume(lines)
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
      if (scrapeFanOut.length + line.length > atomicBytes) push()
      if (waitingBytes > maxWaitingBytes) drop(1)
      else scrapeFanOut += line
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

/** Undefined where the output cannot be written at all: its reader has gone, or the disk is full. The gateway goes on. */
const tryWrite = (output: NonBlockingOutput, chunk: Buffer): number | undefined => {
  try {
    return output.write(chunk)
  } catch {
    return undefined
  }
}

const newline = 10

const countLines = (chunk: Buffer): number => {
  let lines = 0
  for (const byte of chunk) if (byte === newline) lines++
  return lines
}
