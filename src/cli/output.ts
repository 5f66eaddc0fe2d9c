/** What a command prints. A failed write to standard output is one line on standard error, and the exit code is 1. */

/** Prints what was asked for. If the reader goes away first, as `head` does, the rest is dropped, which is no failure. */
export const printLine = (line: string): void => {
  followFailures()
  process.stdout.write(`${line}\n`)
}

export const printErrorLine = (line: string): void => {
  followFailures()
  process.stderr.write(`${line}\n`)
}

/**
 * Prints a line that exists nowhere else, such as a new secret, and waits until it is written.
 * @throws Error if it could not be written, or if the reader is gone
 */
export const printLineSafely = (line: string): Promise<void> => {
  followFailures()
  isAwaited = true
  return new Promise((resolve, reject) => {
    process.stdout.write(`${line}\n`, error => {
      if (error) return reject(new Error(toSentence(error)))
      isAwaited = false
      resolve()
    })
  })
}

/** The failure is told by the promise; after that there is nothing to add. */
let isAwaited = false
let isFollowing = false

const followFailures = (): void => {
  if (isFollowing) return
  isFollowing = true
  // There is nowhere left to tell that standard error fails.
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isAwaited || error.code === 'EPIPE') return
    // A stream fails once. The command may return after this, and its exit code would stand otherwise.
    process.once('exit', () => {
      process.exitCode = 1
    })
    process.stderr.write(`sidegate: ${toSentence(error)}\n`)
  })
}

const toSentence = (error: NodeJS.ErrnoException): string =>
  `standard output cannot be written: ${error.message.replace(/, write$/, '')}`
