import { ownMember } from '../../own-member.ts'
import type { Parameters } from '../forms/parameters.ts'
import { joinScope, splitScope } from '../scope.ts'

/** The parameters of an authorization request, by name, as a request object or a stored pushed request holds them. */
export type ParameterValues = Readonly<Record<string, string | readonly string[]>>

/** Every parameter that is read and must not repeat. Only `resource` may repeat. Unknown parameters are ignored. */
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
 * The values of a valid request, as they are stored: no secret, no proof, no unknown parameter and no duplicate. Of
 * `prompt` only `none` is stored, because no other value changes the response.
 */
export const toParameterValues = (parameters: Parameters): ParameterValues => {
  const values: Record<string, string | readonly string[]> = {}
  for (const name of singleParameters) {
    const value = toStored(name, parameters.get(name))
    if (value !== undefined) values[name] = value
  }
  const resource = [...new Set(parameters.all('resource'))]
  return resource.length > 0 ? { ...values, resource } : values
}

const toStored = (name: (typeof singleParameters)[number], value: string | undefined): string | undefined => {
  if (value === undefined || name === 'response_mode') return undefined // `query` is the only one, so it need not be stored
  if (name === 'scope') return joinScope(splitScope(value))
  if (name === 'prompt') return isPromptNone(value) ? promptNone : undefined
  return value
}

const promptNone = 'none'

/** Whether a `prompt` asks for a response without a page (OpenID Connect Core section 3.1.2.1). */
export const isPromptNone = (prompt: string | undefined): boolean => prompt?.split(' ').includes(promptNone) ?? false

/** The values as if the client had sent each of them. An empty value counts as absent (RFC 6749 section 3.1). */
export const toParameters = (values: ParameterValues): Parameters => {
  const all = (name: string): readonly string[] => [ownMember(values, name) ?? []].flat().filter(value => value !== '')
  return { get: name => all(name)[0], all, faults: new Map() }
}
