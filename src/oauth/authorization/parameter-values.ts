import { ownMember } from '../../own-member.ts'
import type { Parameters } from '../forms/parameters.ts'
import { joinScope, splitScope } from '../scope.ts'

/** The parameters of an authorization request as values by name: how a request object or a pushed request has them. */
export type ParameterValues = Readonly<Record<string, string | readonly string[]>>

/** Every parameter that is read and cannot repeat; `resource` is the one that can. Any other is ignored. */
export const singleParameters = [
  'response_type',
  'response_mode',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'dpop_jkt',
  'prompt',
  'acr_values',
  'ui_locales',
  'login_hint',
] as const

/**
 * The values of a request that was found good, as they are kept: no secret, no proof, no unknown parameter, nothing twice,
 * and of `prompt` only what will be answered.
 */
export const toParameterValues = (parameters: Parameters): ParameterValues => {
  const values: Record<string, string | readonly string[]> = {}
  for (const name of singleParameters) {
    const value = toKept(name, parameters.get(name))
    if (value !== undefined) values[name] = value
  }
  const resource = [...new Set(parameters.all('resource'))]
  return resource.length > 0 ? { ...values, resource } : values
}

const toKept = (name: (typeof singleParameters)[number], value: string | undefined): string | undefined => {
  if (value === undefined || name === 'response_mode') return undefined // the only one there is goes without saying
  if (name === 'scope') return joinScope(splitScope(value))
  if (name === 'prompt') return isPromptNone(value) ? promptNone : undefined
  return value
}

const promptNone = 'none'

/** Whether a `prompt` asks that nobody sees a page (OpenID Connect Core section 3.1.2.1). */
export const isPromptNone = (prompt: string | undefined): boolean => prompt?.split(' ').includes(promptNone) ?? false

/** As if they had been sent one by one; an empty one is absent (RFC 6749 section 3.1). */
export const toParameters = (values: ParameterValues): Parameters => {
  const all = (name: string): readonly string[] => [ownMember(values, name) ?? []].flat().filter(value => value !== '')
  return { get: name => all(name)[0], all, faults: new Map() }
}
