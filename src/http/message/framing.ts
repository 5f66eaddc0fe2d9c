import { InvalidMessageError } from './invalid-message.ts'

/** The fields of a head that declare the length of its body. */
export interface FramingFields {
  /** The value of `Content-Length`; undefined: the field is not present. */
  readonly length: string | undefined
  /** The value of `Transfer-Encoding`; undefined: the field is not present. */
  readonly coding: string | undefined
  readonly versionMinor: 0 | 1
}

/** The framing that the fields declare: a length, chunks, or nothing. */
export type DeclaredFraming =
  | { readonly by: 'length'; readonly bytes: number }
  | { readonly by: 'chunks' }
  | { readonly by: 'nothing' }

const inChunks: DeclaredFraming = { by: 'chunks' }
const nothing: DeclaredFraming = { by: 'nothing' }

/** Decides how a body is framed (RFC 9112 section 6), and refuses ambiguous fields. */
export const declaredFraming = ({ length, coding, versionMinor }: FramingFields): DeclaredFraming => {
  if (length === undefined && coding === undefined) return nothing
  // 15 digits: every such number is exact, and longer ones overflow in some readers.
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    throw new InvalidMessageError('bad-length', 'Content-Length is not a number')
  }
  if (coding === undefined) return { by: 'length', bytes: Number(length) }
  // RFC 9112 section 6.1: an HTTP/1.0 peer may not have understood the field.
  if (versionMinor === 0) throw new InvalidMessageError('coding-in-http-1.0', 'HTTP/1.0 has no transfer codings')
  if (length !== undefined) {
    throw new InvalidMessageError('length-and-coding', 'there are a Content-Length and a Transfer-Encoding')
  }
  if (coding.toLowerCase() !== 'chunked') {
    throw new InvalidMessageError('bad-coding', 'the transfer coding is not chunked alone')
  }
  return inChunks
}
