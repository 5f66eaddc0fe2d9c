import { type NonBlockingOutput, openOutput } from './non-blocking-output.ts'

/**
 * Writes whole lines to standard output, several times a second. If several workers share a pipe, a write of up to 4096
 * bytes is atomic (POSIX PIPE_BUF), so lines are gathered up to that size. A reader that stalls must not stall the
 * gateway: output is written without blocking, and lines wait in a bounded buffer. If the buffer is full, they are
 * dropped and counted.
 */
export interface StdoutWriter {
  /** @param line ends with a newline */
  write(line: string): void
  /** Writes the buffered lines; for the last lines of a process. Waits a second at most if the reader has stalled. */
  flush(): void
}

/** Callbacks about lines that the reader never gets. */
export interface DroppedLines {
  /** Called when lines are lost. */
  onDrop(lines: number): void
  /** The reader accepts lines again; called with the number of lines lost since the last call. */
  onResume(lines: number): void
}

const atomicBytes = 4096
const maxWaitingBytes = 16 * 1024 * 1024
/** Maximum time for which a line waits for others, in milliseconds. */
const pushAfterMs = 100
/**
 * How soon a write is tried again after the reader took nothing, so that a backlog is written as fast as the reader
 * takes it.
 */
const retryAfterMs = 5
/** Maximum time for which the last lines of a process wait for a reader that has stalled. */
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

/** Blocks the process, so it is used for its last lines only. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/**
 * Undefined if the output cannot be written at all, because its reader has exited or the disk is full. The gateway
 * continues.
 */
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
