/**
 * The service behind the stress tests, as a program `node upstream.ts PORT`. `GET …/down/BYTES` sends that many bytes
 * as fast as the client reads them, `POST …/up` replies with the number of received bytes, and any other request gets
 * a few bytes.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

export const createStressUpstream = (): Server =>
  createServer((req, res) => {
    const bytes = /\/down\/(\d+)$/.exec(req.url ?? '')?.[1]
    if (bytes !== undefined) pour(res, Number(bytes))
    else if (req.url?.endsWith('/up')) count(req, res)
    else req.resume().once('end', () => res.end('{"account":"1","balance":42}'))
  })

const piece = Buffer.alloc(65_536, 'sidegate streams what it is given; ')

const pour = (res: ServerResponse, bytes: number): void => {
  let leftBytes = bytes
  const write = (): void => {
    while (leftBytes > 0) {
      const hasRoom = res.write(piece.subarray(0, leftBytes))
      leftBytes -= Math.min(piece.length, leftBytes)
      if (!hasRoom) return void res.once('drain', write)
    }
    res.end()
  }
  write()
}

const count = (req: IncomingMessage, res: ServerResponse): void => {
  let bytes = 0
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  req.on('end', () => res.end(`${bytes}`))
}

if (import.meta.main) createStressUpstream().listen(Number(process.argv[2]), '127.0.0.1')
