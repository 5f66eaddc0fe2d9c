import type { Parameters } from '../forms/parameters.ts'

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

/** The values that count, and nothing of what came along with them: no secret, no proof, no unknown parameter. */
export const toParameterValues = (parameters: Parameters): ParameterValues => {
  const values: Record<string, string | readonly string[]> = {}
  for (const name of singleParameters) {
    const value = parameters.get(name)
    if (value !== undefined) values[name] = value
  }
  const resource = parameters.all('resource')
  return resource.length > 0 ? { ...values, resource } : values
}

/** As if they had been sent one by one; an empty one is absent (RFC 6749 section 3.1). */
export const toParameters = (values: ParameterValues): Parameters => {
  const all = (name: string): readonly string[] => [values[name] ?? []].flat().filter(value => value !== '')
  return { get: name => all(name)[0], all, faults: new Map() }
}
