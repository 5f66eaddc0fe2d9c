/**
 * Output of commands. A failed write to standard output is reported in one line on standard error, and the exit code is
 * 1.
 */

/**
 * Prints the result of a command. If the reader closes the pipe first, as `head` does, the rest is dropped, which is
 * not a failure.
 */
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
 * @throws Error if it cannot be written, or if the reader has closed the pipe
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

/** The promise reports the failure, so the event needs no handling. */
let isAwaited = false
let isFollowing = false

const followFailures = (): void => {
  if (isFollowing) return
  isFollowing = true
  // A failure of standard error cannot be reported anywhere.
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isAwaited || error.code === 'EPIPE') return
    // A stream fails once. The command may return after this, and would otherwise set the exit code to 0.
    process.once('exit', () => {
      process.exitCode = 1
    })
    process.stderr.write(`sidegate: ${toSentence(error)}\n`)
  })
}

const toSentence = (error: NodeJS.ErrnoException): string =>
  `standard output cannot be written: ${error.message.replace(/, write$/, '')}`
