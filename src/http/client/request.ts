import type { BodySource } from '../message/body-source.ts'

/** A request as it is sent. */
export interface UpstreamRequest {
  readonly method: string
  /** Request line and fields, latin1, with the empty line at its end. */
  readonly head: string
  /** Undefined: the request has no body. */
  readonly body: BodySource | undefined
  /** Whether the body is sent chunked; else it has the length that the head declares. */
  readonly isChunked: boolean
  /** Most bytes of a chunked body; more is `too-large`. */
  readonly maxBodyBytes: number
  /** The start of the total timeout, in the time of `performance.now()`. */
  readonly startedAtMs: number
}

/** A request with a body. */
export type RequestWithBody = UpstreamRequest & { readonly body: BodySource }

/** Whether the request has a body. */
export const hasBody = (request: UpstreamRequest): request is RequestWithBody => request.body !== undefined
