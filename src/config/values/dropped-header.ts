import { type FieldKind, fieldKindOf, fieldKinds } from '../../http/server/field-kinds.ts'

/** The fields without which an upstream cannot read the request, and those that Sidegate sets itself. */
const kept: ReadonlySet<FieldKind> = new Set([
  fieldKinds.connection,
  fieldKinds.host,
  fieldKinds.contentLength,
  fieldKinds.transferEncoding,
  fieldKinds.requestId,
  fieldKinds.traceparent,
  fieldKinds.tracestate,
  fieldKinds.expect,
  fieldKinds.forwardedFor,
  fieldKinds.forwardedProto,
  fieldKinds.forwardedHost,
  fieldKinds.forwarded,
  fieldKinds.upgrade,
])

/** Why a header field cannot be one that a grouping drops; undefined if it can. */
export const droppedHeaderFault = (name: string): string | undefined => {
  const kind = fieldKindOf(name)
  if (kind === fieldKinds.invalid) return 'must be the name of a header field, such as X-Account'
  if (kept.has(kind) || /^(?:x-sidegate-|sec-websocket-)/i.test(name)) {
    return 'Sidegate sets this header field itself, or the request cannot be read without it; remove it'
  }
  return undefined
}
