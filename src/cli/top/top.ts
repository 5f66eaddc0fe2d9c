import { parseDurationMs } from '../../config/lint/lint.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { printOn, printOnce } from './batch.ts'
import { showLive, type Watching } from './interactive.ts'

/**
 * Shows what a running Sidegate does, from the metrics of its admin port. Needs neither the configuration nor the
 * store.
 */
export const top: Command = {
  name: 'top',
  synopsis: '[--admin URL] [--every TIME] [--once]',
  summary: 'shows live rates, errors and latencies of groupings, upstreams and the store',
  run: async args => {
    const options = parseOptions(args, optionTypes)
    const watching = { admin: parseAdmin(options.admin), everyMs: parseEvery(options.every) }
    const stop = new AbortController()
    for (const signal of endings) process.once(signal, () => stop.abort())
    // The reader has closed the pipe, as `head` does after its last line.
    process.stdout.once('error', () => stop.abort())
    await choose(options.once ?? false)(watching, stop)
    return 0
  },
}

/** Signals that end a program and can be handled: the terminal is restored before. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

const optionTypes = {
  admin: { type: 'string', default: 'http://127.0.0.1:9090' },
  every: { type: 'string', default: '1s' },
  once: { type: 'boolean' },
} as const

const choose = (isOnce: boolean): ((watching: Watching, stop: AbortController) => Promise<void>) => {
  if (isOnce) return printOnce
  return process.stdout.isTTY && process.env.TERM !== 'dumb' ? showLive : printOn
}

const parseAdmin = (text: string): string => {
  const full = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  const isOrigin = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!isOrigin) throw new UsageError('--admin takes the URL of the admin port, such as http://127.0.0.1:9090')
  return url.origin
}

const parseEvery = (text: string): number => {
  const everyMs = parseDurationMs(text)
  if (everyMs === undefined || everyMs < 100 || everyMs > 3_600_000)
    throw new UsageError('--every takes a duration from 100ms to 1h, such as 1s')
  return everyMs
}
