import type { BodySource } from '../message/body-source.ts'

/** A request as it goes over the wire. */
export interface UpstreamRequest {
  readonly method: string
  /** Request line and fields, latin1, with the empty line at its end. */
  readonly head: string
  /** Undefined: none. */
  readonly body: BodySource | undefined
  /** Whether the body goes in chunks; else it has the length that the head declares. */
  readonly isChunked: boolean
  /** Most bytes of a body in chunks; more is `too-large`. */
  readonly maxBodyBytes: number
  /** From when on its whole time counts: `performance.now()`. */
  readonly startedAtMs: number
}

/** One that has a body. */
export type RequestWithBody = UpstreamRequest & { readonly body: BodySource }

/** Whether there is a body to send. */
export const hasBody = (request: UpstreamRequest): request is RequestWithBody => request.body !== undefined
