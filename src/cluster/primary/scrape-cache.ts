import { fieldLines } from '../../http/reply.ts'
import type { Response } from '../../http/server/response.ts'
import type { ExpositionFormat } from '../../telemetry/exposition-format.ts'

/** The metrics as one text. */
export interface Exposition {
  readonly contentType: string
  readonly body: string
}

/** Answers any number of scrapes at the cost of one in 100 ms. */
export interface ScrapeCache {
  answer(format: ExpositionFormat, response: Response): void
}

/** Scrapes within this time after another one get the same response. */
export const sharedForMs = 100

/**
 * Maximum size of the different responses that scrapers have yet to read, in bytes. Beyond it, the connections that
 * read the oldest response are closed, because a scraper that does not read must not make the primary grow.
 */
const maxUnreadBytes = 32 * 1024 * 1024

interface Shared {
  readonly contentType: string
  readonly bytes: Buffer
  readonly madeAtMs: number
  /** Responses that are being sent. */
  readonly readers: Set<Response>
}

/** @param expose renders an exposition, which takes milliseconds for each thousand series */
export const createScrapeCache = (expose: (format: ExpositionFormat) => Promise<Exposition>): ScrapeCache => {
  const latest = new Map<ExpositionFormat, Promise<Shared>>()
  const unread = new Set<Shared>()

  const make = async (format: ExpositionFormat): Promise<Shared> => {
    const { contentType, body } = await expose(format)
    return { contentType, bytes: Buffer.from(body), madeAtMs: performance.now(), readers: new Set() }
  }
  const forget = (format: ExpositionFormat, made: Promise<Shared>): void => {
    if (latest.get(format) === made) latest.delete(format)
  }
  const find = (format: ExpositionFormat): Promise<Shared> => {
    const known = latest.get(format)
    if (known !== undefined) return known
    const made = make(format)
    latest.set(format, made)
    made.then(
      () => setTimeout(forget, sharedForMs, format, made).unref(),
      () => forget(format, made),
    )
    return made
  }
  const cutOffOldest = (): void => {
    let unreadBytes = 0
    for (const { bytes } of unread) unreadBytes += bytes.length
    for (const shared of unread) {
      if (unreadBytes <= maxUnreadBytes || unread.size === 1) return
      unread.delete(shared)
      unreadBytes -= shared.bytes.length
      for (const response of shared.readers) response.destroy()
    }
  }
  const send = (shared: Shared, response: Response): void => {
    if (response.isOver) return
    unread.add(shared)
    shared.readers.add(response)
    cutOffOldest()
    const leave = (): void => {
      shared.readers.delete(response)
      if (shared.readers.size === 0) unread.delete(shared)
    }
    response.listener = { onClose: leave, onFinish: leave, onDrain: () => undefined }
    const lines = fieldLines(['content-type', shared.contentType, 'cache-control', 'no-store'])
    response.writeHead({ status: 200, lines, length: String(shared.bytes.length), hasDate: false })
    response.endShared(shared.bytes)
  }
  return {
    answer(format, response) {
      find(format).then(
        shared => send(shared, response),
        () => response.destroy(),
      )
    },
  }
}
