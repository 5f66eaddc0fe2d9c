import type { Socket } from 'node:net'

/** The beginning of an interim answer that lets the client go on; the reason phrase is free. */
const continueLine = Buffer.from('HTTP/1.1 100')
const headEnd = '\r\n\r\n'
/** A header that grows beyond this is no "100 Continue"; it is handed on as it came. */
const maxHeldBytes = 4096

/**
 * Takes "100 Continue" out of what an upstream says before its answer. RFC 9110 section 15.2 has a client read past one
 * that it did not ask for; undici breaks the connection off. Only the bytes between a request's header and the first of
 * its answer are looked at, so nothing of a body can be mistaken for one.
 * @param socket of a connection that carries one request at a time
 */
export const skipUnaskedContinue = (socket: Socket): void => {
  const read = socket.read.bind(socket)
  const write = socket.write.bind(socket) as (...parameters: readonly unknown[]) => boolean
  let expectsAnswer = false
  let held: Buffer = Buffer.alloc(0)

  socket.write = (...parameters: readonly unknown[]): boolean => {
    if (isRequestHeader(parameters[0])) expectsAnswer = true
    return write(...parameters)
  }
  socket.read = (size?: number): Buffer | null => {
    const chunk = read(size) as Buffer | null
    if (!expectsAnswer || chunk === null) return chunk
    if (held.length === 0 && isFinalAnswer(chunk)) {
      expectsAnswer = false
      return chunk
    }
    const begun = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const rest = withoutContinues(begun)
    held = isUndecided(rest) ? rest : Buffer.alloc(0)
    if (held.length > 0 || rest.length === 0) return null
    expectsAnswer = false
    return rest
  }
}

/** undici writes a header as one text that begins with the method; bodies are bytes, chunk sizes begin with a line end. */
const isRequestHeader = (written: unknown): boolean => typeof written === 'string' && written.charCodeAt(0) >= 0x41

/** The usual case, by one byte: where the status of `HTTP/1.1 200` begins there is no `1`. */
const isFinalAnswer = (chunk: Buffer): boolean => {
  const firstDigit = chunk[9]
  return firstDigit !== undefined && firstDigit !== 0x31
}

const withoutContinues = (bytes: Buffer): Buffer => {
  let rest = bytes
  while (rest.length >= continueLine.length && matchesContinue(rest)) {
    const end = rest.indexOf(headEnd)
    if (end < 0) return rest
    rest = rest.subarray(end + headEnd.length)
  }
  return rest
}

/** Whether these bytes may yet become a "100 Continue". */
const isUndecided = (bytes: Buffer): boolean =>
  bytes.length > 0 && bytes.length <= maxHeldBytes && matchesContinue(bytes)

/** As far as there are bytes to compare. */
const matchesContinue = (bytes: Buffer): boolean => {
  const compared = Math.min(bytes.length, continueLine.length)
  return bytes.compare(continueLine, 0, compared, 0, compared) === 0
}
