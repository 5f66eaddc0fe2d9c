import { randomBytes } from 'node:crypto'

/** W3C Trace Context: the two header fields by which a request carries the trace that it belongs to. */

/** What a `traceparent` says. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The span of whoever sent the request: 16 hexadecimal digits. */
  readonly parentId: string
  /** Those that are defined (section 3.2.2.3, and `random` of level 2): others must not be handed on. */
  readonly flags: number
}

/** Whoever sent the request records the trace. */
export const sampledFlag = 0x01
const definedFlags = sampledFlag | 0x02

/** Undefined where there is none, several, or none that is well-formed: then the trace begins anew (section 3.2.2). */
export const parseTraceparent = (received: string | undefined): TraceParent | undefined => {
  if (received === undefined) return undefined
  const [, version, traceId = '', parentId = '', flags = '', rest] = traceparentForm.exec(received) ?? []
  // Of a version that is not known yet, what begins like ours is read (section 3.2.4); `ff` is none.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  return { traceId, parentId, flags: Number.parseInt(flags, 16) & definedFlags }
}

const traceparentForm = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/

export const toTraceparent = (traceId: string, spanId: string, flags: number): string =>
  `00-${traceId}-${spanId}-0${flags}`

/** Whether those behind us are asked to record a trace that begins here. */
export type SampleNewTrace = (traceId: string) => boolean

/** What goes on where nobody here records the trace: the client's trace with a span of our own, or a new one. */
export const nextTraceparent = (parent: TraceParent | undefined, sampleNew: SampleNewTrace): string => {
  if (parent) return toTraceparent(parent.traceId, newSpanId(), parent.flags)
  const traceId = newTraceId()
  return toTraceparent(traceId, newSpanId(), sampleNew(traceId) ? sampledFlag : 0)
}

/** Section 3.3.1.1: a list that has more is no list. */
const mostMembers = 32
/** Section 3.3.1.5: so many characters must be handed on, and no more are here; members beyond 128 go first. */
const mostCharacters = 512
const longMember = 128

/**
 * What other systems say of the trace, as it goes on: only beside a `traceparent` that is good, so ask for it only then.
 * Undefined where there is none or it is malformed: then nothing of it can be handed on (section 3.3).
 * @param received all lines in one, as RFC 9110 section 5.3 puts them together
 */
export const parseTracestate = (received: string | undefined): string | undefined => {
  if (received === undefined) return undefined
  const members = received
    .split(',')
    .map(member => member.trim())
    .filter(member => member !== '')
  const keys = new Set(members.map(member => member.slice(0, member.indexOf('='))))
  const isList = members.length <= mostMembers && keys.size === members.length && members.every(isMember)
  if (!isList || members.length === 0) return undefined
  const all = members.join(',')
  return all.length <= mostCharacters ? all : shortened(members)
}

const isMember = (member: string): boolean => memberForm.test(member)

/** Sections 3.3.1.3.1 and 3.3.1.3.2, the key as level 2 has it. */
const memberForm = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/

/** Whole members, as many as there is room for; the first ones were written last. */
const shortened = (members: readonly string[]): string | undefined => {
  let text = ''
  for (const member of members.filter(({ length }) => length <= longMember)) {
    const longer = text === '' ? member : `${text},${member}`
    if (longer.length > mostCharacters) break
    text = longer
  }
  return text === '' ? undefined : text
}

export const newTraceId = (): string => randomHex(16)
export const newSpanId = (): string => randomHex(8)

const pool = { hex: '', offset: 0 }
const poolBytes = 4096

/** Random bytes as hex, drawn from a pool: a system call for thousands of requests, not for each. */
const randomHex = (bytes: number): string => {
  if (pool.offset + bytes * 2 > pool.hex.length) {
    pool.hex = randomBytes(poolBytes).toString('hex')
    pool.offset = 0
  }
  pool.offset += bytes * 2
  return pool.hex.slice(pool.offset - bytes * 2, pool.offset)
}
