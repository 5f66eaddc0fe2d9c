import { isatty } from 'node:tty'
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino'

export type { Logger } from 'pino'

/** A log line is written whole or not at all where several workers share one pipe (POSIX PIPE_BUF). */
const atomicWriteBytes = 4096
/** What may wait for a slow reader of the logs before lines are dropped rather than memory spent. */
const maxBufferedBytes = 16 * 1024 * 1024
const flushEveryMs = 100

export interface LoggerOptions {
  /** pino level; `silent` for none. */
  readonly level: string
  /** Fields of every line. */
  readonly base: Readonly<Record<string, string | number>>
}

export interface ProcessLogger {
  readonly log: Logger
  /** Writes what is buffered, at once; for the last lines of a process. */
  flush(): void
}

/** JSON lines to standard output; a person on a terminal gets pretty ones. Buffered, so a line costs no system call. */
export const createLogger = async (options: LoggerOptions): Promise<ProcessLogger> => {
  const stream = isatty(1) ? await prettyStream() : bufferedStream()
  const log = pino(
    {
      level: options.level,
      base: options.base,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
    },
    stream.destination,
  )
  return { log, flush: stream.flush }
}

interface LogStream {
  readonly destination: DestinationStream
  flush(): void
}

const prettyStream = async (): Promise<LogStream> => {
  const { default: pretty } = await import('pino-pretty')
  return { destination: pretty({ colorize: true, ignore: 'pid,hostname', sync: true }), flush: () => undefined }
}

const bufferedStream = (): LogStream => {
  const stream = destination({
    fd: 1,
    sync: false,
    minLength: atomicWriteBytes / 2,
    maxWrite: atomicWriteBytes,
    maxLength: maxBufferedBytes,
  })
  // A reader that went away (EPIPE) must not take the gateway with it.
  stream.on('error', () => undefined)
  setInterval(() => stream.flush(), flushEveryMs).unref()
  return {
    destination: stream,
    flush() {
      try {
        stream.flushSync()
      } catch {
        // Not opened yet or already closed: there is nobody to tell.
      }
    },
  }
}
