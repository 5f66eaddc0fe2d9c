import { hasBalancedDirections } from '../directional-controls.ts'

/** The decision of the operator's own login about an interaction, parsed from the JSON body of its call. */

/** The user signed in and agreed. */
export interface Acceptance {
  readonly sub: string
  readonly username?: string
  /** How the user was authenticated (OpenID Connect Core section 2). */
  readonly acr?: string
  /** Checked but not stored: no token contains it. */
  readonly amr?: readonly string[]
  /** When the user signed in, in seconds since 1970. Left out: at the time of the call. */
  readonly auth_time?: number
  /** Left out: all requested scopes. */
  readonly granted_scopes?: readonly string[]
}

/** The user did not sign in, or did not agree. */
export interface Rejection {
  readonly error: RejectionError
  readonly description: string
}

const rejectionErrors = ['access_denied', 'login_required', 'temporarily_unavailable'] as const
export type RejectionError = (typeof rejectionErrors)[number]

/** The error in a record of the store, where it is a string. */
export const toRejectionError = (text: string): RejectionError =>
  rejectionErrors.find(error => error === text) ?? 'access_denied'

/** The check of one member, and the sentence that describes the rule to the caller. */
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

/** It goes into tokens and into a header for upstreams, where spaces at either end would be trimmed. */
const identifier = /^[\x21-\x7e]+$/
/** One word of a space-separated list (RFC 6749 section 3.3). */
const word = /^[\x21\x23-\x5b\x5d-\x7e]+$/
/** No space at either end, because two users whose names differ only there would look the same on a page. */
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
    rule: `username must be 1 to ${maxLength} characters, without control characters, unclosed bidirectional controls, and spaces at either end`,
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

/** @returns the acceptance, or for an invalid body the reason, fit for the caller */
export const parseAcceptance = (body: unknown): Acceptance | string => {
  const fault = faultOf(body, acceptanceRules)
  return fault ?? (body as Acceptance) // every member was checked, and there are no others
}

/** @returns the rejection, or for an invalid body the reason, fit for the caller */
export const parseRejection = (body: unknown): Rejection | string => {
  const fault = faultOf(body, rejectionRules)
  return fault ?? { description: 'The sign-in was rejected.', ...(body as Pick<Rejection, 'error'>) }
}

/** A misspelt `granted_scopes` would grant everything, so unknown members are refused. */
const faultOf = (body: unknown, rules: Rules): string | undefined => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body must be a JSON object.'
  const members: ReadonlyMap<string, unknown> = new Map(Object.entries(body))
  for (const [name, { isRight, rule, isRequired }] of Object.entries(rules)) {
    const isWrong = members.has(name) ? !isRight(members.get(name)) : isRequired
    if (isWrong) return `${rule}.`
  }
  const isKnown = [...members.keys()].every(name => Object.hasOwn(rules, name))
  return isKnown ? undefined : `The body may only have the members ${Object.keys(rules).join(', ')}.`
}
