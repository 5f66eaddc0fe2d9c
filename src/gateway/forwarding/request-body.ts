import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

/**
 * A request's body as a stream for the upstream. Whoever takes it may destroy it before its end: the rest of the request
 * is then read and dropped, so that the client's connection can go on. undici destroys what it was given when an answer
 * comes early; the request itself, destroyed, would leave a connection that nobody reads.
 */
export const requestBody = (req: IncomingMessage): Readable => Readable.from(chunksOf(req), { objectMode: false })

async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* req.iterator({ destroyOnReturn: false })
  } finally {
    req.resume()
  }
}
