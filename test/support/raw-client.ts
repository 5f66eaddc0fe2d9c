import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'
import { parseAnswer, type RawAnswer } from './raw-answer.ts'

/** How a connection stands: `closed` in order, `reset` with an error. */
export type ConnectionState = 'open' | 'closed' | 'reset'

const defaultPatienceMs = 3000

/** A connection to the gateway, TCP or TLS, that sends exactly the given bytes and has exactly the received ones. */
export class RawConnection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #state: ConnectionState = 'open'
  readonly #waiting = new Set<() => void>()

  /**
   * @param origin e.g. `http://127.0.0.1:8080`
   * @param tls for an https origin: the trusted CAs, and the certificate of the client
   */
  constructor(origin: string, tls: ConnectionOptions = {}) {
    const { protocol, hostname, port } = new URL(origin)
    const place = { port: Number(port), host: hostname }
    this.#socket = protocol === 'https:' ? connectSecurely({ ...tls, ...place }) : connect(place)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    this.#socket.on('error', () => this.#settle('reset'))
    this.#socket.on('end', () => this.#settle('closed'))
    this.#socket.on('close', () => this.#settle('closed'))
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Of what was to be sent, what the other end has not taken. */
  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  /** The received bytes that `answer` has not taken yet. */
  get received(): Buffer {
    return this.#received
  }

  /** @param bytes a string is sent as latin1: one byte a character */
  send(bytes: string | Buffer): this {
    if (this.#socket.writable) this.#socket.write(bytes, 'latin1')
    return this
  }

  /**
   * The next answer, an interim one (1xx) too. Rejects where the connection ends before its header is complete.
   * @param method of the request it answers
   * @param patienceMs longest silence before this rejects
   */
  async answer(method = 'GET', patienceMs = defaultPatienceMs): Promise<RawAnswer> {
    for (;;) {
      const parsed = parseAnswer(this.#received, method, this.#state !== 'open')
      if (parsed) {
        this.#received = parsed.rest
        return parsed.answer
      }
      if (this.#state !== 'open') throw new Error(`${this.#state} after ${JSON.stringify(this.#received.toString())}`)
      await this.#news(patienceMs)
    }
  }

  /** Resolves once so many bytes have come. */
  async receive(bytes: number): Promise<Buffer> {
    while (this.#received.length < bytes && this.#state === 'open') await this.#news()
    return this.#received
  }

  /** Resolves once the other end has closed or reset the connection. */
  async ended(): Promise<ConnectionState> {
    while (this.#state === 'open') await this.#news()
    return this.#state
  }

  /** Says that nothing more will be sent. */
  finish(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Ends the connection with a TCP reset. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  #settle(state: ConnectionState): void {
    if (this.#state === 'open') this.#state = state
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #news(patienceMs = defaultPatienceMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(wake)
        reject(new Error(`nothing came for ${patienceMs} ms after ${JSON.stringify(this.#received.toString())}`))
      }, patienceMs)
      this.#waiting.add(wake)
    })
  }
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** A connection that is closed when the test ends. */
export const openConnection = (t: Teardown, origin: string, tls?: ConnectionOptions): RawConnection => {
  const connection = new RawConnection(origin, tls)
  t.teardown(() => connection.close())
  return connection
}

/** One request on a connection of its own, and its answer. */
export const ask = async (
  origin: string,
  bytes: string | Buffer,
  method?: string,
  tls?: ConnectionOptions,
): Promise<RawAnswer> => {
  const connection = new RawConnection(origin, tls)
  try {
    return await connection.send(bytes).answer(method)
  } finally {
    connection.close()
  }
}
