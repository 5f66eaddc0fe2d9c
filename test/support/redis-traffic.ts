import { createHash } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenLocally } from './local-server.ts'
import type { RunningRedis } from './redis.ts'

/** A proxy between a gateway and its Redis that separates the commands sent before an answer from the later ones. */
export interface RedisTraffic {
  /** Where the gateway finds Redis. */
  readonly url: string
  /**
   * Runs `act`, and names the kinds of keys that its commands ask for (`grant`, `token`, …): those that went out before
   * any of them was answered, one round trip, stand together.
   */
  tripsDuring(act: () => Promise<unknown>): Promise<readonly (readonly string[])[]>
}

interface Command {
  readonly words: readonly string[]
  /** Places in the order of all that was sent and answered. */
  readonly sentAt: number
  answeredAt: number
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/**
 * How long answers are held back during a recording: many times longer than a process takes to send in one turn of
 * its event loop, on a slow machine too.
 */
const heldMs = 100

export const watchTraffic = async (t: Teardown, redis: RunningRedis): Promise<RedisTraffic> => {
  const commands: Command[] = []
  const scripts = new Map<string, string>()
  const sockets = new Set<Socket>()
  let place = 0
  let isWatched = false

  const keep = (socket: Socket): Socket => sockets.add(socket) && socket.setNoDelay().on('error', () => undefined)
  const note = (words: readonly string[]): Command => {
    const [name = '', text = ''] = words
    if (name.toLowerCase() === 'eval') scripts.set(createHash('sha1').update(text).digest('hex'), text)
    const command = { words, sentAt: place++, answeredAt: Number.POSITIVE_INFINITY }
    commands.push(command)
    return command
  }
  const server = createServer(near => {
    const far = keep(connect(redis.port, '127.0.0.1'))
    const waiting: Command[] = []
    // The plans ask on a connection of their own, and do not wait for long.
    let asksForRequests = false
    let handedOn = Promise.resolve()
    const readCommands = createReader(words => {
      const command = note(words)
      waiting.push(command)
      if (isWatched && !isBackground(command, scripts)) asksForRequests = true
    })
    const readAnswers = createReader(() => {
      const command = waiting.shift()
      if (command) command.answeredAt = place++
    })
    keep(near).on('data', (chunk: Buffer) => {
      readCommands(chunk)
      far.write(chunk)
    })
    far.on('data', (chunk: Buffer) => {
      const held = isWatched && asksForRequests ? sleep(heldMs) : undefined
      handedOn = Promise.all([handedOn, held]).then(() => {
        readAnswers(chunk)
        near.write(chunk)
      })
    })
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  const port = await listenLocally(t, server, sockets)
  return {
    url: `redis://127.0.0.1:${port}`,
    tripsDuring: async act => {
      const first = commands.length
      isWatched = true
      await act()
      isWatched = false
      return toTrips(commands.slice(first).filter(command => !isBackground(command, scripts)))
    },
  }
}

const toTrips = (commands: readonly Command[]): readonly (readonly string[])[] => {
  const trips: Command[][] = []
  for (const command of commands) {
    const trip = trips.at(-1)
    if (trip?.every(({ answeredAt }) => answeredAt > command.sentAt)) trip.push(command)
    else trips.push([command])
  }
  return trips.map(trip => trip.map(kindOf))
}

const kindOf = ({ words }: Command): string => {
  const key = /^eval/i.test(words[0] ?? '') ? words[3] : words[1]
  return toKind(key ?? '')
}

/**
 * `grant` for `sidegate:{…}:grant`, `interaction` for `sidegate:interaction:…`; nothing for a command without a key.
 */
export const toKind = (key: string): string => /^sidegate:(?:\{[^}]*\}:)?(\w+)/.exec(key)?.[1] ?? ''

/** Whether it is a periodic command, or one that plans cause: neither is part of the cost of a request. */
const isBackground = (command: Command, scripts: ReadonlyMap<string, string>): boolean => {
  const kind = kindOf(command)
  const [name = '', script = ''] = command.words
  const text = /^evalsha$/i.test(name) ? scripts.get(script) : script
  // A worker reads both by the clock. A request reads the cutoffs too, but in the round trip of its own question
  // (oauth/tokens/not-before-at-endpoints.test.ts).
  if (kind === 'feed' || kind === 'cutoffs') return text?.includes('ZADD') !== true
  return backgroundKinds.includes(kind)
}

/** Kinds of keys that are there without any request, or count requests, or ask whether that is possible again. */
export const backgroundKinds: readonly string[] = ['', 'keys', 'pods', 'limit', 'probe']

// --- the protocol of Redis, RESP2 -----------------------------------------------------------------------------------

type Value = string | readonly Value[]

/** Calls back for each whole value in what is passed to it, piece by piece. */
const createReader = (onValue: (value: readonly string[]) => void): ((chunk: Buffer) => void) => {
  let rest = Buffer.alloc(0)
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    for (let found = readValue(rest, 0); found; found = readValue(rest, 0)) {
      rest = rest.subarray(found.end)
      onValue(toWords(found.value))
    }
  }
}

const toWords = (value: Value): readonly string[] => (typeof value === 'string' ? [value] : value.flatMap(toWords))

/** The value at this place, or undefined where it is not all there yet. */
const readValue = (bytes: Buffer, at: number): { readonly value: Value; readonly end: number } | undefined => {
  const lineEnd = bytes.indexOf('\r\n', at)
  if (lineEnd < 0) return undefined
  const type = String.fromCharCode(bytes[at] ?? 0)
  const text = bytes.toString('utf8', at + 1, lineEnd)
  const start = lineEnd + 2
  if (type === '$') return readBulk(bytes, start, Number(text))
  return type === '*' ? readArray(bytes, start, Number(text)) : { value: text, end: start }
}

/** @param length -1: nothing, as for a key that is not there */
const readBulk = (bytes: Buffer, start: number, length: number) => {
  if (length < 0) return { value: '', end: start }
  const end = start + length + 2
  return bytes.length < end ? undefined : { value: bytes.toString('utf8', start, start + length), end }
}

const readArray = (bytes: Buffer, start: number, length: number) => {
  const value: Value[] = []
  let end = start
  for (let i = 0; i < length; i++) {
    const element = readValue(bytes, end)
    if (!element) return undefined
    value.push(element.value)
    end = element.end
  }
  return { value, end }
}
