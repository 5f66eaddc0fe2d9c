import type { BodySink } from './message/body-source.ts'
import type { Request } from './server/request.ts'
import type { Response } from './server/response.ts'

export interface BodyLimits {
  /** Most bytes; more is `too_large`. */
  readonly maxBytes: number
  /** Longest time from the header to the last byte; more is `too_slow`. */
  readonly timeoutMs: number
}

export type BodyOutcome =
  | { readonly kind: 'body'; readonly text: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'too_slow' }
  | { readonly kind: 'aborted' }

/**
 * Reads a small request body completely. If the declared length is above the limit, no byte is read. A body that
 * arrived with its head, as most do, is returned at once.
 */
export const readBody = (
  { body }: Request,
  response: Response,
  limits: BodyLimits,
): BodyOutcome | Promise<BodyOutcome> => {
  if (body === undefined) return { kind: 'body', text: '' }
  if (body.lengthBytes !== undefined && body.lengthBytes > limits.maxBytes) return { kind: 'too_large' }
  const collector = new BodyCollector(limits.maxBytes)
  body.read(collector)
  if (collector.outcome !== undefined) return collector.outcome
  // Invalid chunks that arrived with the head have been refused during the call.
  return response.isOver ? { kind: 'aborted' } : waitFor(collector, response, limits.timeoutMs)
}

const waitFor = (collector: BodyCollector, response: Response, timeoutMs: number): Promise<BodyOutcome> =>
  new Promise(resolve => {
    const timer = setTimeout(() => collector.settle({ kind: 'too_slow' }), timeoutMs)
    collector.onSettled = outcome => {
      clearTimeout(timer)
      response.listener = undefined
      resolve(outcome)
    }
    response.listener = { onClose: () => collector.settle({ kind: 'aborted' }), onDrain: () => undefined }
  })

/** Collects the pieces of a body, up to the limit. */
class BodyCollector implements BodySink {
  outcome: BodyOutcome | undefined
  onSettled: ((outcome: BodyOutcome) => void) | undefined
  readonly #maxBytes: number
  readonly #pieces: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  onData(piece: Buffer): void {
    if (this.outcome !== undefined) return
    this.#bytes += piece.length
    if (this.#bytes > this.#maxBytes) this.settle({ kind: 'too_large' })
    else this.#pieces.push(piece)
  }

  onEnd(): void {
    this.settle({ kind: 'body', text: textOf(this.#pieces) })
  }

  settle(outcome: BodyOutcome): void {
    if (this.outcome !== undefined) return
    this.outcome = outcome
    this.onSettled?.(outcome)
  }
}

const textOf = (pieces: readonly Buffer[]): string => {
  const [first] = pieces
  if (first === undefined) return ''
  return (pieces.length === 1 ? first : Buffer.concat(pieces)).toString('utf8')
}
