import { randomBytes } from 'node:crypto'

/** WebSocket frames (RFC 6455 section 5.2), as far as a relay has to parse them. */

/** Why a WebSocket ends (RFC 6455 section 7.4.1). */
export const closeCodes = {
  /** An endpoint is going away, such as a server that shuts down. */
  goingAway: 1001,
  policyViolation: 1008,
} as const

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes]

/** A length beyond 125 stands in the next 2 or 8 bytes. */
const lengthInTwoBytes = 126
const lengthInEightBytes = 127
const maskBytes = 4

const closeOpcode = 8

/** Finds where the frames of one direction end, whatever pieces their bytes come in. */
export class FrameReader {
  /**
   * Of the current frame header: bytes read, where its length field ends, and where the header ends as far as is known.
   */
  #readBytes = 0
  #lengthEnd = 2
  #headerBytes = 2
  #isClose = false
  #length = 0
  /** Bytes of the current payload that are still missing. */
  #owedBytes = 0
  #hasClosed = false

  /** Whether the next byte begins a frame. Only there another frame may be inserted. */
  get isBetweenFrames(): boolean {
    return this.#readBytes === 0 && this.#owedBytes === 0
  }

  /** Whether a whole Close frame has passed: no other frame may follow it (RFC 6455 section 5.5.1). */
  get hasClosed(): boolean {
    return this.#hasClosed && this.isBetweenFrames
  }

  /** Reads all of it. */
  read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at = this.#readSome(bytes, at)
  }

  /** Reads to the end of the current frame. @returns how many bytes that were; all if the frame continues */
  readFrameEnd(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && !this.isBetweenFrames) at = this.#readSome(bytes, at)
    return at
  }

  /** Reads a byte of a header, or the available bytes of the payload. */
  #readSome(bytes: Buffer, at: number): number {
    if (this.#owedBytes > 0) {
      const taken = Math.min(this.#owedBytes, bytes.length - at)
      this.#owedBytes -= taken
      return at + taken
    }
    this.#readHeaderByte(bytes[at] ?? 0)
    return at + 1
  }

  #readHeaderByte(byte: number): void {
    if (this.#readBytes === 0) this.#isClose = (byte & 0x0f) === closeOpcode
    else if (this.#readBytes === 1) this.#readLength(byte)
    else if (this.#readBytes < this.#lengthEnd) this.#length = this.#length * 256 + byte
    this.#readBytes += 1
    if (this.#readBytes < this.#headerBytes) return
    this.#hasClosed ||= this.#isClose
    this.#owedBytes = this.#length
    this.#readBytes = 0
    this.#headerBytes = 2
  }

  #readLength(byte: number): void {
    const length = byte & 0x7f
    this.#lengthEnd = length === lengthInTwoBytes ? 4 : length === lengthInEightBytes ? 10 : 2
    this.#length = length < lengthInTwoBytes ? length : 0
    this.#headerBytes = this.#lengthEnd + (byte & 0x80 ? maskBytes : 0)
  }
}

/**
 * A whole Close frame.
 * @param reason up to 123 bytes
 * @param isMasked as every frame to a server is (RFC 6455 section 5.3)
 */
export const closeFrame = (code: CloseCode, reason: string, isMasked: boolean): Buffer => {
  const content = Buffer.from(`\0\0${reason}`)
  content.writeUInt16BE(code)
  const first = 0x80 | closeOpcode
  if (!isMasked) return Buffer.concat([Buffer.from([first, content.length]), content])
  const mask = randomBytes(maskBytes)
  const masked = content.map((byte, index) => byte ^ (mask[index % maskBytes] ?? 0))
  return Buffer.concat([Buffer.from([first, 0x80 | content.length]), mask, masked])
}
