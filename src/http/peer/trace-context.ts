import { randomBytes } from 'node:crypto'

/** W3C Trace Context: the two header fields that carry the trace of a request. */

/** The content of a `traceparent`. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The span of the sender: 16 hexadecimal digits. */
  readonly parentId: string
  /** The defined flags (section 3.2.2.3, and `random` of level 2). Other flags must not be passed on. */
  readonly flags: number
}

/** The sender of the request records the trace. */
export const sampledFlag = 0x01
const definedFlags = sampledFlag | 0x02

/** Undefined if the field is missing, repeated or malformed: then a new trace begins (section 3.2.2). */
export const parseTraceparent = (received: string | undefined): TraceParent | undefined => {
  if (received === undefined) return undefined
  const [, version, traceId = '', parentId = '', flags = '', rest] = traceparentForm.exec(received) ?? []
  // A later version is parsed as far as it has our format (section 3.2.4). `ff` is not a version.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  return { traceId, parentId, flags: Number.parseInt(flags, 16) & definedFlags }
}

const traceparentForm = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/

export const toTraceparent = (traceId: string, spanId: string, flags: number): string =>
  `00-${traceId}-${spanId}-0${flags}`

/** Whether the sampled flag of a trace that begins here is set. */
export type SampleNewTrace = (traceId: string) => boolean

/**
 * The `traceparent` for the upstream if Sidegate does not record the trace: the client's trace with a span of our own,
 * or a new trace.
 */
export const nextTraceparent = (parent: TraceParent | undefined, sampleNew: SampleNewTrace): string => {
  if (parent) return toTraceparent(parent.traceId, newSpanId(), parent.flags)
  const traceId = newTraceId()
  return toTraceparent(traceId, newSpanId(), sampleNew(traceId) ? sampledFlag : 0)
}

/** Section 3.3.1.1: a list with more members is invalid. */
const maxMembers = 32
/**
 * Section 3.3.1.5: at least so many characters must be passed on, and not more are here. Members above 128 characters
 * are removed first.
 */
const maxCharacters = 512
const longMemberCharacters = 128

/**
 * The `tracestate` to pass on. Call it only if the `traceparent` is valid. Undefined if the field is missing or
 * malformed: then no part of it may be passed on (section 3.3).
 * @param received all lines joined, as RFC 9110 section 5.3 defines it
 */
export const parseTracestate = (received: string | undefined): string | undefined => {
  if (received === undefined) return undefined
  const members = received
    .split(',')
    .map(member => member.trim())
    .filter(member => member !== '')
  const keys = new Set(members.map(member => member.slice(0, member.indexOf('='))))
  const isList = members.length <= maxMembers && keys.size === members.length && members.every(isMember)
  if (!isList || members.length === 0) return undefined
  const all = members.join(',')
  return all.length <= maxCharacters ? all : shortened(members)
}

const isMember = (member: string): boolean => memberForm.test(member)

/** Sections 3.3.1.3.1 and 3.3.1.3.2, the key as level 2 has it. */
const memberForm = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/

/** As many whole members as fit. The first ones are the latest. */
const shortened = (members: readonly string[]): string | undefined => {
  let text = ''
  for (const member of members.filter(({ length }) => length <= longMemberCharacters)) {
    const longer = text === '' ? member : `${text},${member}`
    if (longer.length > maxCharacters) break
    text = longer
  }
  return text === '' ? undefined : text
}

export const newTraceId = (): string => randomHex(16)
export const newSpanId = (): string => randomHex(8)

const pool = { hex: '', offset: 0 }
const poolBytes = 4096

/** Random bytes as hex, taken from a pool, so that one system call serves hundreds of requests. */
const randomHex = (bytes: number): string => {
  if (pool.offset + bytes * 2 > pool.hex.length) {
    pool.hex = randomBytes(poolBytes).toString('hex')
    pool.offset = 0
  }
  pool.offset += bytes * 2
  return pool.hex.slice(pool.offset - bytes * 2, pool.offset)
}
