import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** A large body that goes through the gateway. */
export interface Transfer {
  readonly title: string
  /** Of the slow ones a part is enough: what they do not take must wait somewhere. */
  readonly share: number
  /** @throws Error where not every byte arrives */
  run(origin: string, bytes: number): Promise<void>
}

const piece = Buffer.alloc(65_536, 'sidegate streams what it is given; ')

/** The pause of a slow reader or writer, in milliseconds: about 60 MiB/s at most. */
const pauseMs = 1

export const transfers: readonly Transfer[] = [
  { title: 'down', share: 1, run: (origin, bytes) => take(origin, bytes, false) },
  { title: 'down, to a slow reader', share: 1 / 8, run: (origin, bytes) => take(origin, bytes, true) },
  { title: 'up, with a length', share: 1, run: (origin, bytes) => give(origin, bytes, false, false) },
  { title: 'up, in chunks', share: 1, run: (origin, bytes) => give(origin, bytes, true, false) },
  { title: 'up, from a slow writer', share: 1 / 8, run: (origin, bytes) => give(origin, bytes, false, true) },
]

const take = async (origin: string, bytes: number, isSlow: boolean): Promise<void> => {
  const sent = request(`${origin}/down/${bytes}`, { agent: false }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let taken = 0
  for await (const chunk of answer) {
    taken += (chunk as Buffer).length
    if (isSlow) await sleep(pauseMs)
  }
  if (taken !== bytes) throw new Error(`${taken} of ${bytes} bytes came down`)
}

const give = async (origin: string, bytes: number, isChunked: boolean, isSlow: boolean): Promise<void> => {
  const headers = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes }
  const sent = request(`${origin}/up`, { agent: false, method: 'POST', headers })
  const answered = once(sent, 'response')
  await write(sent, bytes, isSlow)
  const [answer] = (await answered) as [IncomingMessage]
  const taken = await text(answer)
  if (taken !== `${bytes}`) throw new Error(`${taken} of ${bytes} bytes went up`)
}

const write = async (sent: ClientRequest, bytes: number, isSlow: boolean): Promise<void> => {
  for (let written = 0; written < bytes; written += piece.length) {
    const hasRoom = sent.write(piece.subarray(0, Math.min(piece.length, bytes - written)))
    if (!hasRoom) await once(sent, 'drain')
    if (isSlow) await sleep(pauseMs)
  }
  sent.end()
}
