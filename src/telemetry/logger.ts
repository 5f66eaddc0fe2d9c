import { isatty } from 'node:tty'
import { type DestinationStream, pino, stdTimeFunctions } from 'pino'
import type { EventAt, LogEntry, LogLevel } from './log-events.ts'
import { serializeError } from './serialize-error.ts'
import { createStdoutWriter, type StdoutWriter } from './stdout-writer.ts'

/** Writes the events of the catalogue, each at its level and with its fields; `message` is a sentence for a person. */
export interface Logger {
  info<E extends EventAt<'info'>>(entry: LogEntry<E>, message?: string): void
  warn<E extends EventAt<'warn'>>(entry: LogEntry<E>, message?: string): void
  error<E extends EventAt<'error'>>(entry: LogEntry<E>, message?: string): void
  fatal<E extends EventAt<'fatal'>>(entry: LogEntry<E>, message?: string): void
  isLevelEnabled(level: LogLevel): boolean
}

export interface LoggerOptions {
  /** As `readLogLevel` has it. */
  readonly level: string
  /** Fields of every line. */
  readonly base: Readonly<Record<string, string | number>>
  /** Called with how many lines are lost, as soon as they are. */
  readonly onDrop?: (lines: number) => void
}

export interface ProcessLogger {
  readonly log: Logger
  /** Fields of every line. */
  readonly base: LoggerOptions['base']
  /** Where its lines go, for others who write such lines; undefined on a terminal, where they are made pretty. */
  readonly lines: StdoutWriter | undefined
  /** Prints a text that is no log line, after the lines before it. It ends with a newline. */
  print(text: string): void
  /** Writes what is buffered; for the last lines of a process. Waits a second at most for a reader that has stalled. */
  flush(): void
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** The level that `LOG_LEVEL` names, `info` where it is empty or not set. @throws Error one line for a person */
export const readLogLevel = (env: NodeJS.ProcessEnv): string => {
  const level = env.LOG_LEVEL || 'info'
  if (!levels.includes(level)) throw new Error(`LOG_LEVEL must be one of ${levels.join(', ')}`)
  return level
}

/**
 * JSON lines to standard output; a person on a terminal gets pretty ones. Buffered, so a line costs no system call, and written
 * without blocking, whatever standard output is.
 */
export const createLogger = async (options: LoggerOptions): Promise<ProcessLogger> => {
  const { base, onDrop = () => undefined } = options
  const lines = createStdoutWriter({
    onDrop,
    onResume: dropped => log.warn({ event: 'log_lines_dropped', dropped }, 'log lines were dropped'),
  })
  const isTerminal = isatty(1)
  const log = pinoLogger(options, isTerminal ? await prettyStream(lines) : lines)
  return { log, base, lines: isTerminal ? undefined : lines, print: lines.write, flush: lines.flush }
}

const pinoLogger = ({ level, base }: LoggerOptions, destination: DestinationStream): Logger =>
  pino(
    {
      level,
      base,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: serializeError },
    },
    destination,
  )

const prettyStream = async (lines: StdoutWriter): Promise<DestinationStream> => {
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({ colorize: true, ignore: 'pid,hostname', singleLine: true })
  return { write: line => lines.write(pretty(line)) }
}
