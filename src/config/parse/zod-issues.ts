import { z } from 'zod'
import { ownMember } from '../../own-member.ts'
import type { Fault, Path } from '../source/diagnostic.ts'
import { findNearest } from '../source/did-you-mean.ts'

/**
 * Converts a problem that the schema found to our messages: what is wrong and how to correct it, never the value
 * itself.
 */
export const toFaults = (issue: z.core.$ZodIssue, schema: z.ZodType, raw: unknown, base: Path): readonly Fault[] => {
  const inside = issue.path.filter(step => typeof step !== 'symbol')
  const path = [...base, ...inside]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => ({
        path: [...path, key],
        at: 'key' as const,
        message: unknownKey(key, knownKeysAt(schema, inside)),
      }))
    case 'invalid_key':
      return [{ path, at: 'key', message: issue.issues[0]?.message ?? issue.message }]
    case 'invalid_type':
      return [
        { path, at: 'value', message: orMissing(kinds.get(issue.expected) ?? issue.message, valueAt(raw, inside)) },
      ]
    default:
      return [{ path, at: 'value', message: orMissing(issue.message, valueAt(raw, inside)) }]
  }
}

/** The known key that an unknown one most likely stands for, if one is near enough. */
export const findMeantKey = (key: string, schema: z.ZodType, inside: Path): string | undefined => {
  const known = knownKeysAt(schema, inside)
  return findUnended(key, known) ?? findNearest(key, known)
}

/** The known key at the beginning of an unknown one that contains its value too; the rest of it may be a secret. */
const findUnended = (key: string, known: readonly string[]): string | undefined =>
  known.find(candidate => key.startsWith(`${candidate} `) || key.startsWith(`${candidate}:`))

/** The keys of earlier versions, and their names and values now. A name counts where the new one is known. */
const renamedKeys: ReadonlyMap<string, { readonly to: string; readonly note: string }> = new Map([
  [
    'ejection',
    {
      to: 'outlierDetection',
      note: ', and in it time is baseEjectionTime, maxTime is maxEjectionTime, mostPercent is maxEjectionPercent',
    },
  ],
  ['time', { to: 'baseEjectionTime', note: '' }],
  ['maxTime', { to: 'maxEjectionTime', note: '' }],
  ['mostPercent', { to: 'maxEjectionPercent', note: '' }],
  ['retryPercent', { to: 'retryBudgetPercent', note: '' }],
  ['browser', { to: 'bindToBrowser', note: ': true for same, false for any' }],
])

const unknownKey = (key: string, known: readonly string[]): string => {
  const renamed = renamedKeys.get(key)
  if (renamed !== undefined && known.includes(renamed.to)) {
    return `unknown key; it is called ${renamed.to} now${renamed.note}`
  }
  const unended = findUnended(key, known)
  if (unended) return `unknown key; did you mean ${unended}, with a colon and a space before its value?`
  const nearest = findNearest(key, known)
  return nearest ? `unknown key; did you mean ${nearest}?` : `unknown key; the known keys here are ${known.join(', ')}`
}

const knownKeysAt = (schema: z.ZodType, inside: Path): readonly string[] => {
  const bare = unwrapped(schema)
  if (!(bare instanceof z.ZodObject)) return []
  const [step, ...rest] = inside
  if (step === undefined) return Object.keys(bare.shape)
  const below: unknown = ownMember(bare.shape, step)
  return below instanceof z.ZodType ? knownKeysAt(below, rest) : []
}

const unwrapped = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? unwrapped(schema.unwrap())
    : schema

const kinds: ReadonlyMap<string, string> = new Map([
  ['object', 'must be a mapping of keys to values'],
  ['record', 'must be a mapping of keys to values'],
  ['array', 'must be a list'],
])

const orMissing = (message: string, value: unknown): string => (value === undefined ? `missing; ${message}` : message)

const valueAt = (raw: unknown, inside: Path): unknown =>
  inside.reduce<unknown>((value, step) => ownMember(value as Record<string | number, unknown> | undefined, step), raw)
