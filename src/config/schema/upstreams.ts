import { z } from 'zod'
import { checkedText, durationMs, name } from '../values/texts.ts'

const originFault = (text: string): string | undefined => {
  const expectation = 'must be an http or https origin without path, such as http://127.0.0.1:9000'
  if (!/^https?:\/\/[^/?#@]+\/?$/i.test(text) || !URL.canParse(text)) return expectation
  return undefined
}

export const upstreamSchema = z.strictObject({
  targets: z
    .array(checkedText(originFault))
    .min(1, { error: 'needs at least one target, such as http://127.0.0.1:9000' })
    .describe('Origins that serve it.'),
  connectTimeout: durationMs(1).prefault('5s').describe('Longest wait for a connection. Default 5s.'),
  headersTimeout: durationMs(1).prefault('30s').describe('Longest wait for the response header. Default 30s.'),
  bodyTimeout: durationMs(1)
    .prefault('5m')
    .describe('Longest wait for the next piece of a body, of a request or a response, sent or taken. Default 5m.'),
  totalTimeout: durationMs(1)
    .prefault('1h')
    .describe('Longest time for a whole round trip; WebSockets and event streams have none. Default 1h.'),
})

export const upstreamsSchema = z
  .record(name(), upstreamSchema)
  .default({})
  .describe('Where forwarded operations go, by name.')
