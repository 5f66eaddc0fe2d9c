import type { RefusalReason } from './refusal-reason.ts'

/** A head as the strict server reads it. */
export interface StrictHead {
  readonly method: string
  readonly target: string
  readonly version: string
  /** Names and values in turn. */
  readonly fields: readonly string[]
  readonly framing: { readonly by: 'length'; readonly bytes: number } | { readonly by: 'chunks' }
  readonly persists: boolean
  readonly upgrades: boolean
}

/** Bytes that are no request. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(reason)
    this.reason = reason
  }
}

/** Checks that are left out, to prove that the comparison notices it. */
export type DisabledChecks = ReadonlySet<RefusalReason>

/**
 * @param text latin1, without the empty line at its end
 * @throws RefusedError
 */
export const parseStrictHead = (text: string, disabled: DisabledChecks): StrictHead => {
  const [start = '', ...lines] = text.split(disabled.has('bare-lf') ? /\r?\n/ : '\r\n')
  const [method, target, version] = parseRequestLine(start, disabled)
  const fields = parseFieldLines(lines, disabled)
  const check = (reason: RefusalReason, isWrong: boolean): void => refuseIf(reason, isWrong, disabled)
  check('too-many-fields', fields.length > 200)
  const values = (name: string): readonly string[] => valuesIn(fields, name)
  check('two-hosts', values('host').length > 1)
  const framing = framingOf(values('content-length'), values('transfer-encoding'), version, disabled)
  const connection = values('connection').flatMap(value => value.toLowerCase().split(',').map(trim))
  const closes = connection.includes('close')
  const upgrades =
    method === 'GET' &&
    version === '1.1' &&
    connection.includes('upgrade') &&
    values('upgrade').join().toLowerCase() === 'websocket'
  check('upgrade-with-body', upgrades && !(framing.by === 'length' && framing.bytes === 0))
  const persists = version === '1.1' ? !closes : !closes && connection.includes('keep-alive')
  return { method, target, version, fields, framing, persists, upgrades }
}

/**
 * Names and values in turn.
 * @throws RefusedError
 */
export const parseFieldLines = (lines: readonly string[], disabled: DisabledChecks): readonly string[] => {
  const fields: string[] = []
  for (const line of lines) {
    const isFolded = /^[ \t]/.test(line)
    refuseIf('obs-fold', isFolded, disabled)
    if (isFolded && fields.length > 0) {
      fields[fields.length - 1] = `${fields.at(-1)} ${trim(line)}`
      continue
    }
    const colon = line.indexOf(':')
    refuseIf('no-colon', colon < 0, disabled)
    if (colon < 0) continue
    const name = line.slice(0, colon)
    const value = trim(line.slice(colon + 1))
    refuseIf('bad-field-name', !token.test(name), disabled)
    refuseIf('bad-field-value', badValue.test(value), disabled)
    fields.push(name.trimEnd(), value)
  }
  return fields
}

/** Throws the reason, unless this check is disabled. */
export const refuseIf = (reason: RefusalReason, isWrong: boolean, disabled: DisabledChecks): void => {
  if (isWrong && !disabled.has(reason)) throw new RefusedError(reason)
}

const parseRequestLine = (line: string, disabled: DisabledChecks): readonly [string, string, string] => {
  const parts = line.split(' ')
  const [method = '', target = ''] = parts
  const version = parts.at(-1) ?? ''
  refuseIf('bad-request-line', parts.length !== 3 || !token.test(method), disabled)
  refuseIf('connect', method === 'CONNECT', disabled)
  refuseIf('unknown-method', !knownMethods.has(method) && method !== 'CONNECT', disabled)
  refuseIf('bad-version', version !== 'HTTP/1.1' && version !== 'HTTP/1.0', disabled)
  refuseIf('bad-target', !originForm.test(target) && !absoluteForm.test(target) && target !== '*', disabled)
  return [method, target, version.slice('HTTP/'.length)]
}

const framingOf = (
  lengths: readonly string[],
  codings: readonly string[],
  version: string,
  disabled: DisabledChecks,
): StrictHead['framing'] => {
  const [length] = lengths
  const [coding] = codings
  refuseIf('two-lengths', lengths.length > 1, disabled)
  refuseIf('bad-length', length !== undefined && !/^\d{1,15}$/.test(length), disabled)
  refuseIf('length-and-coding', length !== undefined && coding !== undefined, disabled)
  refuseIf('coding-in-http-1.0', coding !== undefined && version === '1.0', disabled)
  refuseIf('two-codings', codings.length > 1, disabled)
  refuseIf('bad-coding', coding !== undefined && coding.toLowerCase() !== 'chunked', disabled)
  if (length === undefined && coding !== undefined) return { by: 'chunks' }
  return { by: 'length', bytes: Number.parseInt(length ?? '0', 10) || 0 }
}

const valuesIn = (fields: readonly string[], name: string): readonly string[] =>
  fields.filter((_, place) => place % 2 === 1 && fields[place - 1]?.toLowerCase() === name)

const trim = (text: string): string => text.replace(/^[ \t]+|[ \t]+$/g, '')

export const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
])

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const badValue = /[^\t\x20-\x7e\x80-\xff]/
const originForm = /^\/[!-~]*$/
const absoluteForm = /^[A-Za-z]+:\/\/[A-Za-z0-9.:[\]_-]+(?:[/?][!-~]*)?$/
