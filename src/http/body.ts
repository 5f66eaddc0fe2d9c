import type { IncomingMessage } from 'node:http'

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

/** Reads a small request body whole. A declared length over the limit is refused before a byte is read. */
export const readBody = (
  req: IncomingMessage,
  contentLength: string | undefined,
  limits: BodyLimits,
): Promise<BodyOutcome> =>
  new Promise(resolve => {
    if (contentLength !== undefined && Number(contentLength) > limits.maxBytes) return resolve({ kind: 'too_large' })
    // No field announces one: nothing will be said of its end.
    if (req.readableEnded) return resolve({ kind: 'body', text: '' })
    const chunks: Buffer[] = []
    let bytes = 0
    const timer = setTimeout(() => settle({ kind: 'too_slow' }), limits.timeoutMs)
    const settle = (outcome: BodyOutcome): void => {
      clearTimeout(timer)
      req.off('data', onData).off('end', onEnd).off('close', onClose)
      resolve(outcome)
    }
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > limits.maxBytes) settle({ kind: 'too_large' })
      else chunks.push(chunk)
    }
    const onEnd = (): void => settle({ kind: 'body', text: textOf(chunks) })
    const onClose = (): void => settle({ kind: 'aborted' })
    req.on('data', onData).on('end', onEnd).on('close', onClose)
  })

const textOf = (chunks: readonly Buffer[]): string => {
  const [first] = chunks
  if (first === undefined) return ''
  return (chunks.length === 1 ? first : Buffer.concat(chunks)).toString('utf8')
}
