import { ownMember } from '../own-member.ts'
import { Secret } from '../secret.ts'

/**
 * Whether two parts of configurations have the same content. A member that is undefined equals one that is missing.
 * (`isDeepStrictEqual` of `node:util` tells these two apart, and takes any two `Secret`s for equal.)
 */
export const deepEqual = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (!isObject(one) || !isObject(other)) return false
  if (one instanceof Secret || other instanceof Secret) return textOf(one) === textOf(other)
  if (one instanceof Map || other instanceof Map) return deepEqual(entriesOf(one), entriesOf(other))
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [members, others] = [one, other] as Readonly<Record<string, unknown>>[]
  return Object.keys({ ...members, ...others }).every(key => deepEqual(ownMember(members, key), ownMember(others, key)))
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const entriesOf = (value: object): unknown => (value instanceof Map ? [...value] : undefined)

const textOf = (value: object): string | undefined => (value instanceof Secret ? value.reveal() : undefined)
