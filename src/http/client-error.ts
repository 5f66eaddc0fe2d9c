import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { GatewayErrorCode } from '../errors.ts'
import { nodeHttp } from '../node-http.ts'
import { answerUnderWay } from './answer-under-way.ts'
import { endInTurn } from './end-in-turn.ts'
import { isEnding, markEnding } from './lingering-end.ts'
import { problemReply } from './problem.ts'
import type { Reply } from './reply.ts'

/** Who hears of bytes that are no request. */
export interface RefusalReport {
  /** They were answered with this code. */
  refused(code: GatewayErrorCode): void
  /** Their connection ends: a request took too long to come, or they were none. */
  dropped(reason: 'timeout' | 'invalid'): void
}

/** What of Node's error says what is wrong. */
type ClientError = Pick<NodeJS.ErrnoException, 'code'>

/**
 * What Node's parser could not take, or waited for in vain: answered where no other answer is in the way, with 400, 408 or 431.
 * Where the client went by itself nothing is said.
 */
export const answerClientError = (error: ClientError, socket: Duplex, report: RefusalReport): void => {
  // What comes behind the last answer may well be a fault: it is dropped, so that the answer can be read.
  if (isEnding(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  report.dropped(isLate ? 'timeout' : 'invalid')
  if (isLate && hasSaidNothing(socket)) endInTurn(socket, 'late')
  else if (owesAnswer(socket)) endAfterAnswers(socket)
  else refuseSocket(socket, clientErrorCode(error), report)
}

/** There is no request to answer, and of those that open connections for nothing there are thousands. */
const hasSaidNothing = (socket: Duplex): socket is Socket => 'bytesRead' in socket && socket.bytesRead === 0

/** Answers one that Node has handed over for good, and ends the connection: a CONNECT, or bytes that are no request. */
export const refuseSocket = (socket: Duplex, code: GatewayErrorCode, report: RefusalReport): void => {
  report.refused(code)
  markEnding(socket)
  // Node lets go of a socket that said CONNECT: a reset would then be nobody's error and end the process.
  socket.on('error', () => socket.destroy())
  const requestId = randomUUID()
  const reply = problemReply(code, requestId)
  endSoon(socket, rawReply(reply, requestId))
}

const clientErrorCode = (error: ClientError): GatewayErrorCode => {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'HEADERS_TOO_LARGE'
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'REQUEST_TIMEOUT'
    default:
      return 'BAD_REQUEST'
  }
}

/**
 * Whether an earlier request of this connection still waits for its answer, or the answer has begun: a refusal must not
 * arrive in its place. Where the bad bytes are in the body of the very request that waits, the refusal is its answer.
 */
const owesAnswer = (socket: Duplex): boolean => {
  const answer = answerUnderWay(socket)
  return Boolean(answer && (answer.headersSent || answer.req.complete))
}

/**
 * Lets the answers that are owed go out in their order, and none after them. One whose request has not come whole can go no
 * further: its body is where the bad bytes are.
 */
const endAfterAnswers = (socket: Duplex): void => {
  markEnding(socket)
  const answer = answerUnderWay(socket)
  if (answer === undefined) endSoon(socket)
  else if (answer.req.complete) answer.once('finish', () => endAfterAnswers(socket))
  else socket.destroy()
}

/** How long a client may take to read what was written last. */
const lingerMs = 1000

/** Leaves what has been written the time to be read. */
const endSoon = (socket: Duplex, last = ''): void => {
  socket.end(last)
  const linger = setTimeout(() => socket.destroy(), lingerMs).unref()
  // Or it would hold the connection for as long, and thousands a second are all that a collection of young objects can take.
  socket.once('close', () => clearTimeout(linger))
}

/** An answer as bytes, for a socket that has no ServerResponse. The connection ends with it. */
const rawReply = (reply: Reply, requestId: string): string => {
  const lines = [`HTTP/1.1 ${reply.status} ${nodeHttp.STATUS_CODES[reply.status] ?? ''}`]
  for (let i = 0; i < reply.headers.length; i += 2) lines.push(`${reply.headers[i]}: ${reply.headers[i + 1]}`)
  lines.push(`x-request-id: ${requestId}`, `content-length: ${Buffer.byteLength(reply.body)}`, 'connection: close')
  return `${lines.join('\r\n')}\r\n\r\n${reply.body}`
}
