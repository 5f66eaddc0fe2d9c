import type { ResponseCase } from './generate-response.ts'

/** Answers that one of the two parsers accepts and the other refuses, for a reason that is known. */
export interface Deviation {
  readonly reason: string
  readonly sentence: string
  /** Whether the answer shows the reason. Left out: any may. */
  readonly isIn?: (bytes: string) => boolean
}

/** A control byte but for tabs and CRLF. */
function hasControlByte(bytes: string): boolean {
  const withoutLineEnds = bytes.replaceAll('\r\n', '')
  for (let at = 0; at < withoutLineEnds.length; at++) {
    const code = withoutLineEnds.charCodeAt(at)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true
  }
  return false
}

/** Node accepts these, and our parser refuses them: two readers could understand them differently. */
export const refusedByOurs: readonly Deviation[] = [
  {
    reason: 'bad-status-line',
    sentence:
      'A status code is from 100 to 599 (RFC 9110 section 15), and the version is HTTP/1.0 or HTTP/1.1. Node takes 999 and skips line ends before the status line.',
    isIn: bytes => !/^HTTP\/1\.[01] [1-5][0-9][0-9](?: [\t\x20-\x7e\x80-\xff]*)?\r\n/.test(finalHeadOf(bytes)),
  },
  {
    reason: 'coding-in-http-1.0',
    sentence: 'An answer in HTTP/1.0 with Transfer-Encoding has faulty framing (RFC 9112 section 6.1).',
    isIn: bytes => /HTTP\/1\.0 /.test(bytes) && /transfer-encoding/i.test(bytes),
  },
  {
    reason: 'bad-coding',
    sentence:
      'Only `chunked` is taken, once (RFC 9112 section 6.1): a proxy that forwards another coding would pass on a body whose end it does not know.',
    isIn: bytes => /transfer-encoding/i.test(bytes),
  },
  {
    reason: 'bad-field-value',
    sentence:
      'A control byte or a bare line feed in the head is refused everywhere, also in the reason phrase and before the status line (RFC 9112 sections 2.2 and 4).',
    isIn: hasControlByte,
  },
  {
    reason: 'bad-interim-response',
    sentence: 'A switch to a protocol that the request did not ask for is refused (RFC 9110 section 15.2.2).',
    isIn: bytes => / 101/.test(bytes),
  },
  {
    reason: 'bad-chunk-size',
    sentence: 'The size of a chunk has at most 13 digits. Node skips any number of leading zeros.',
    isIn: bytes => /[0-9a-f]{14}/i.test(bytes),
  },
  {
    reason: 'bad-length',
    sentence: 'Content-Length has at most 16 digits. Node skips any number of leading zeros.',
    isIn: bytes => /content-length:[ \t]*[0-9]{17}/i.test(bytes),
  },
  {
    reason: 'forbidden-trailer',
    sentence: 'A field that frames the message is refused in the trailers (RFC 9110 section 6.5.1). Node skips it.',
    isIn: bytes => /\r\n0[^\r\n]*\r\n(?:[^\r\n]+\r\n)*transfer-encoding:/i.test(bytes),
  },
]

/** Our parser accepts these, and Node refuses them. */
export const refusedByNode: readonly Deviation[] = [
  {
    reason: 'HPE_STRICT',
    sentence: 'Our decoder skips a chunk extension unread up to its CRLF. Node refuses one that is empty or malformed.',
    isIn: bytes => /[0-9a-f][ \t]*;[^\r\n]*\r\n/i.test(bytes),
  },
  {
    reason: 'HPE_INVALID_CHUNK_SIZE',
    sentence: 'Whitespace may stand between the size of a chunk and its extension (RFC 9112 section 7.1.1).',
    isIn: bytes => /[0-9a-f][ \t]+(?:;|\r\n)/i.test(bytes),
  },
  {
    reason: 'HPE_CLOSED_CONNECTION',
    sentence:
      'Node reads no further behind an interim answer in HTTP/1.0 or with `Connection: close`. The final answer follows on the same connection (RFC 9110 section 15.2).',
    isIn: bytes => /^(?:HTTP\/1\.[01] 1[0-9][0-9])/.test(bytes),
  },
]

/** The head behind the interim answers. */
const finalHeadOf = (bytes: string): string =>
  bytes.replace(/^(?:HTTP\/1\.1 1[0-9][0-9][^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)+/, '')

/** The row that explains why one parser refuses the answer; undefined: nothing explains it. */
export const findDeviation = (
  rows: readonly Deviation[],
  reason: string,
  { bytes }: ResponseCase,
): Deviation | undefined => rows.find(row => row.reason === reason && (row.isIn?.(bytes) ?? true))
