import { MemorySocket } from './memory-socket.ts'
import type { End, Message, Reading } from './reading.ts'
import type { CreateServerUnderTest, RequestUnderTest } from './server-under-test.ts'

/** Reads the bytes of one connection, which come in these pieces. One connection at a time. */
export type ReadConnection = (pieces: readonly Buffer[]) => Promise<Reading>

/** Calls back at once, or later. */
export type Defer = (run: () => void) => void

/**
 * Reads requests with the server under test. Each request is answered when its body has ended.
 * @param defer before a body and each further piece of it are read, and before a request is answered; left out: at once
 */
export const createReader = (createServer: CreateServerUnderTest, defer: Defer = run => run()): ReadConnection => {
  let connection = new RecordedConnection(defer)
  const server = createServer({
    request: (req, answer) => connection.request(req, answer),
    upgrade: req => connection.upgrade(req),
    refused: reason => connection.refuse(reason),
  })
  return async pieces => {
    connection = new RecordedConnection(defer)
    server.accept(connection.socket)
    for (const piece of pieces) connection.socket.push(piece)
    await connection.settled()
    const reading = connection.reading()
    connection.socket.destroy()
    return reading
  }
}

/** How many turns of the event loop without news end a reading. */
const quietTurns = 2

class RecordedConnection {
  readonly socket = new MemorySocket()
  readonly #messages: Message[] = []
  #incoming: { req: RequestUnderTest; body: string; isComplete: boolean } | undefined
  #end: End | undefined
  #news = 0
  readonly #defer: Defer

  constructor(defer: Defer) {
    this.#defer = defer
  }

  request(req: RequestUnderTest, answer: () => void): void {
    this.#keepIncoming()
    const incoming = { req, body: '', isComplete: false }
    this.#incoming = incoming
    const onData = (piece: Buffer): void => {
      incoming.body += piece.toString('latin1')
      this.#news++
      req.pauseBody()
      this.#defer(() => req.resumeBody())
    }
    const onEnd = (): void => {
      incoming.isComplete = true
      this.#news++
      this.#defer(answer)
    }
    this.#news++
    this.#defer(() => req.readBody(onData, onEnd))
  }

  upgrade(req: RequestUnderTest): void {
    this.#keepIncoming()
    this.#incoming = { req, body: '', isComplete: true }
    let rest = ''
    this.#end = { is: 'upgraded', rest }
    this.socket.on('data', (piece: Buffer) => {
      rest += piece.toString('latin1')
      this.#end = { is: 'upgraded', rest }
    })
    this.socket.resume()
  }

  refuse(reason: string): void {
    this.#end = { is: 'refused', reason }
  }

  async settled(): Promise<void> {
    let heard = -1
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      await new Promise(setImmediate)
      const now = this.#news + this.socket.written.length - this.socket.readableLength
      if (now !== heard) quiet = 0
      heard = now
    }
  }

  reading(): Reading {
    this.#keepIncoming()
    return { messages: this.#messages, end: this.#end ?? { is: this.socket.writableEnded ? 'closed' : 'open' } }
  }

  #keepIncoming(): void {
    if (this.#incoming === undefined) return
    const { req, body, isComplete } = this.#incoming
    const { method, target, version, rawHeaders } = req
    this.#messages.push({ method, target, version, fields: rawHeaders, body, isComplete, trailers: [] })
    this.#incoming = undefined
  }
}
