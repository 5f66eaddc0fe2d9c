import { randomUUID } from 'node:crypto'
import { eventually } from './eventually.ts'
import type { RunningRedis } from './redis.ts'

/** What clients send to a Redis while something happens. */
export interface RedisTraffic {
  /** Runs `act`, and names for each command of its the kind of its first key: `grant`, `token`, … */
  kindsDuring(act: () => Promise<unknown>): Promise<readonly string[]>
}

/** A command that a client sent, with what a script called in its turn: that costs no round trip. */
interface Command {
  readonly words: readonly string[]
  readonly calls: (readonly string[])[]
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const watchTraffic = async (t: Teardown, { client }: RunningRedis): Promise<RedisTraffic> => {
  const monitor = await client.monitor()
  t.teardown(() => monitor.disconnect())
  const commands: Command[] = []
  monitor.on('monitor', (_time: string, words: readonly string[], source: string) => {
    if (source === 'lua') commands.at(-1)?.calls.push(words)
    else commands.push({ words, calls: [] })
  })
  /** Leaves a mark, and resolves to its place among the commands. */
  const mark = async (): Promise<number> => {
    const text = randomUUID()
    await client.echo(text)
    const isMark = ({ words }: Command): boolean => words[1] === text
    await eventually(() => commands.some(isMark))
    return commands.findIndex(isMark)
  }
  return {
    kindsDuring: async act => {
      const first = await mark()
      await act()
      const last = await mark()
      return commands
        .slice(first + 1, last)
        .filter(command => !isBackground(command))
        .map(kindOf)
    },
  }
}

const kindOf = ({ words }: Command): string => {
  const key = /^eval/i.test(words[0] ?? '') ? words[3] : words[1]
  return toKind(key ?? '')
}

/** `grant` for `sidegate:{…}:grant`, `interaction` for `sidegate:interaction:…`; nothing for a command without a key. */
export const toKind = (key: string): string => /^sidegate:(?:\{[^}]*\}:)?(\w+)/.exec(key)?.[1] ?? ''

/** What processes ask by the clock, and what the plans count: neither is part of what a request costs the store. */
const isBackground = (command: Command): boolean => {
  const kind = kindOf(command)
  if (kind === 'feed') return !command.calls.some(([name]) => name?.toLowerCase() === 'zadd') // reading it
  return backgroundKinds.includes(kind)
}

/** Kinds of keys that are there without any request, or count requests. */
export const backgroundKinds: readonly string[] = ['', 'keys', 'pods', 'limit']
