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
  /** A level that `readLogLevel` returns. */
  readonly level: string
  /** Fields of every line. */
  readonly base: Readonly<Record<string, string | number>>
  /** Called with the number of lines as soon as they are lost. */
  readonly onDrop?: (lines: number) => void
}

export interface ProcessLogger {
  readonly log: Logger
  /** Fields of every line. */
  readonly base: LoggerOptions['base']
  /**
   * The output of its lines, for the access log and the audit log; undefined on a terminal, where pino formats the
   * lines for a person.
   */
  readonly lines: StdoutWriter | undefined
  /** Prints a text that is not a log line, after the lines before it. The text ends with a newline. */
  print(text: string): void
  /** Writes the buffered lines; for the last lines of a process. Waits a second at most if the reader has stalled. */
  flush(): void
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** The level that `LOG_LEVEL` names, or `info` if it is empty or not set. @throws Error one line for a person */
export const readLogLevel = (env: NodeJS.ProcessEnv): string => {
  const level = env.LOG_LEVEL || 'info'
  if (!levels.includes(level)) throw new Error(`LOG_LEVEL must be one of ${levels.join(', ')}`)
  return level
}

/**
 * Writes JSON lines to standard output, or formatted lines if it is a terminal. The lines are buffered, so a line costs
 * no system call, and written without blocking, whatever standard output is.
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
