import { hasBalancedDirections } from '../directional-controls.ts'

/** What the operator's own login decides about an interaction, read from the JSON body of its call. */

/** Somebody signed in and agreed. */
export interface Acceptance {
  readonly sub: string
  readonly username?: string
  /** How the person was authenticated (OpenID Connect Core section 2). */
  readonly acr?: string
  /** Read and checked, but not kept: no token of ours says it. */
  readonly amr?: readonly string[]
  /** When, in seconds since 1970. Left out: at the time of the call. */
  readonly auth_time?: number
  /** Left out: all that was asked for. */
  readonly granted_scopes?: readonly string[]
}

/** Nobody did. */
export interface Rejection {
  readonly error: RejectionError
  readonly description: string
}

const rejectionErrors = ['access_denied', 'login_required', 'temporarily_unavailable'] as const
export type RejectionError = (typeof rejectionErrors)[number]

/** The error again, of a record that the store kept as text. */
export const toRejectionError = (text: string): RejectionError =>
  rejectionErrors.find(error => error === text) ?? 'access_denied'

/** What a member must be, and how its caller is told. */
interface Rule {
  readonly isRight: (value: unknown) => boolean
  readonly rule: string
  readonly isRequired?: boolean
}

type Rules = Readonly<Record<string, Rule>>

const maxLength = 255

const isText = (pattern: RegExp, value: unknown): boolean =>
  typeof value === 'string' && value.length <= maxLength && pattern.test(value)

const isListOf = (pattern: RegExp, value: unknown): boolean =>
  Array.isArray(value) && value.every(member => isText(pattern, member))

/** It goes into tokens, and into a header for the services behind the gateway, which takes spaces off either end. */
const identifier = /^[\x21-\x7e]+$/
/** One word of a space-separated list (RFC 6749 section 3.3). */
const word = /^[\x21\x23-\x5b\x5d-\x7e]+$/
/** Not two people to whom one page says the same: no space at either end. */
const name = /^(?!\s)\P{Cc}+(?<!\s)$/u
/** RFC 6749 section 4.1.2.1. */
const describing = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

const acceptanceRules: Rules = {
  sub: {
    isRight: value => isText(identifier, value),
    rule: `sub must be 1 to ${maxLength} characters of printable ASCII without spaces`,
    isRequired: true,
  },
  username: {
    isRight: value => isText(name, value) && hasBalancedDirections(String(value)),
    rule: `username must be 1 to ${maxLength} characters, without control characters, without bidirectional ones that stay open, and without spaces at either end`,
  },
  acr: { isRight: value => isText(word, value), rule: 'acr must be one word' },
  amr: { isRight: value => isListOf(word, value), rule: 'amr must be a list of words' },
  auth_time: {
    isRight: value => Number.isSafeInteger(value) && Number(value) >= 0,
    rule: 'auth_time must be a whole number of seconds since 1970',
  },
  granted_scopes: { isRight: value => isListOf(word, value), rule: 'granted_scopes must be a list of scopes' },
}

const rejectionRules: Rules = {
  error: {
    isRight: value => rejectionErrors.some(error => error === value),
    rule: `error must be one of ${rejectionErrors.join(', ')}`,
    isRequired: true,
  },
  description: {
    isRight: value => isText(describing, value),
    rule: `description must be at most ${maxLength} characters of printable ASCII without quotes and backslashes`,
  },
}

/** @returns the reason, fit for the caller, where the body is none */
export const parseAcceptance = (body: unknown): Acceptance | string => {
  const fault = faultOf(body, acceptanceRules)
  return fault ?? (body as Acceptance) // its members have been checked, one by one, and there are no others
}

/** @returns the reason, fit for the caller, where the body is none */
export const parseRejection = (body: unknown): Rejection | string => {
  const fault = faultOf(body, rejectionRules)
  return fault ?? { description: 'The sign-in was rejected.', ...(body as Pick<Rejection, 'error'>) }
}

/** A misspelt `granted_scopes` would grant everything, so what is not known is refused. */
const faultOf = (body: unknown, rules: Rules): string | undefined => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body must be a JSON object.'
  const members: ReadonlyMap<string, unknown> = new Map(Object.entries(body))
  for (const [name, { isRight, rule, isRequired }] of Object.entries(rules)) {
    const isWrong = members.has(name) ? !isRight(members.get(name)) : isRequired
    if (isWrong) return `${rule}.`
  }
  const isKnown = [...members.keys()].every(name => Object.hasOwn(rules, name))
  return isKnown ? undefined : `The body may have no members but ${Object.keys(rules).join(', ')}.`
}
