import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { MemorySocket } from '../../fuzz/memory-socket.ts'
import type { ResponseCase } from './generate-response.ts'
import { comparableFields, type ResponseReading } from './response-reading.ts'

/** How Node's own client reads these answers, each in one piece on a connection of its own, which ends behind it. */
export const readAllAsNode = async (cases: readonly ResponseCase[]): Promise<readonly ResponseReading[]> => {
  const exchanges = cases.map(each => new Exchange(each))
  await nextTurn()
  for (const exchange of exchanges) exchange.answer()
  for (let turns = 0; turns < maxTurns && exchanges.some(exchange => !exchange.isOver); turns++) await nextTurn()
  return exchanges.map(exchange => exchange.close())
}

/** Node needs a few turns of the event loop to report the end of a connection. */
const maxTurns = 20

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

class Exchange {
  readonly #case: ResponseCase
  readonly #socket = new MemorySocket()
  readonly #request: ClientRequest
  #response: IncomingMessage | undefined
  #body = ''
  #fault: string | undefined

  constructor(each: ResponseCase) {
    this.#case = each
    this.#request = request({
      method: each.method,
      host: 'a.test',
      // Larger than any generated head.
      maxHeaderSize: 1_000_000,
      createConnection: () => this.#socket as never,
    })
    this.#request.on('error', (error: NodeJS.ErrnoException) => {
      this.#fault ??= error.code ?? error.message
    })
    this.#request.on('upgrade', () => {
      this.#fault ??= 'upgrade'
    })
    this.#request.on('response', response => {
      this.#response = response
      response.on('data', (piece: Buffer) => {
        this.#body += piece.toString('latin1')
      })
      response.on('error', (error: NodeJS.ErrnoException) => {
        this.#fault ??= error.code ?? error.message
      })
    })
    this.#request.end()
  }

  get isOver(): boolean {
    return this.#request.closed || this.#fault !== undefined
  }

  answer(): void {
    this.#socket.push(Buffer.from(this.#case.bytes, 'latin1'))
    this.#socket.push(null)
  }

  close(): ResponseReading {
    this.#request.destroy()
    this.#socket.destroy()
    const response = this.#response
    if (response?.complete) {
      return {
        is: 'accepted',
        status: response.statusCode ?? 0,
        fields: comparableFields(response.rawHeaders),
        body: this.#body,
      }
    }
    return { is: 'refused', reason: this.#fault ?? 'incomplete' }
  }
}
