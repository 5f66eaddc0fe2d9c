import { createHash } from 'node:crypto'
import { Command } from 'ioredis'
import type { RedisConnection } from './connection.ts'

/**
 * A script that is called thousands of times a second with hundreds of arguments, most of them the same each time.
 * ioredis would process each argument of each call five times. Here a call is joined from texts that were encoded once.
 * Texts of the reply are Buffers.
 */
export interface ScriptCaller<Reply> {
  /**
   * Rejects with the error of ioredis.
   * @param firstKey determines the slot in a Cluster
   * @param bulks of the keys, then of the other arguments: `toBulks`
   * @param args how many they are in all
   */
  call(firstKey: string, keys: number, args: number, bulks: string): Promise<Reply>
}

/** Arguments as RESP bulk strings. */
export const toBulks = (args: readonly (string | number)[]): string => args.map(toBulk).join('')

const toBulk = (arg: string | number): string => `$${Buffer.byteLength(String(arg))}\r\n${arg}\r\n`

/** The script itself is sent the first time on each connection, and again if Redis has forgotten it. */
export const createScriptCaller = <Reply>(connection: RedisConnection, lua: string): ScriptCaller<Reply> => {
  const sha = createHash('sha1').update(lua).digest('hex')
  const script: WrittenScript = {
    sha,
    bySha: toBulks(['EVALSHA', sha]),
    byText: toBulks(['EVAL', lua]),
    knownAt: new WeakSet(),
  }
  const send = (firstKey: string, wire: Wire): Promise<Reply> =>
    connection.sendCommand(new WrittenCall(script, firstKey, wire)) as Promise<Reply>
  return {
    call: (firstKey, keys, args, bulks) => {
      const wire = { words: args + 3, bulks: `${toBulk(keys)}${bulks}` }
      return send(firstKey, wire).catch(error => {
        if (!isUnknownScript(error)) throw error
        return send(firstKey, wire)
      })
    },
  }
}

const isUnknownScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT')

interface WrittenScript {
  readonly sha: string
  /** The command and the script's digest, or its text, as RESP bulk strings. */
  readonly bySha: string
  readonly byText: string
  /** Connections on which the script was sent. */
  readonly knownAt: WeakSet<object>
}

/** A call without the part that identifies the script. */
interface Wire {
  /** The command's name included. */
  readonly words: number
  readonly bulks: string
}

/**
 * A command that is already encoded. ioredis sees only what it needs: the command and its key. Texts of the reply are
 * Buffers.
 */
class WrittenCall extends Command {
  readonly #script: WrittenScript
  readonly #wire: Wire

  constructor(script: WrittenScript, firstKey: string, wire: Wire) {
    super('evalsha', [script.sha, '1', firstKey])
    this.#script = script
    this.#wire = wire
  }

  override toWritable(socket: object): string {
    const { bySha, byText, knownAt } = this.#script
    const { words, bulks } = this.#wire
    if (knownAt.has(socket)) {
      this.#forgetIfUnknown(socket)
      return `*${words}\r\n${bySha}${bulks}`
    }
    knownAt.add(socket)
    return `*${words}\r\n${byText}${bulks}`
  }

  #forgetIfUnknown(socket: object): void {
    const { reject } = this
    // Not declared where it is assigned: V8 would take such a function for long-lived, and it would keep this call, and
    // all that it refers to, alive until a major collection.
    const forget = (error: Error): void => {
      if (isUnknownScript(error)) this.#script.knownAt.delete(socket)
      reject(error)
    }
    this.reject = forget
  }
}
