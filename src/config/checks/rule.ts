import { type ConfigSection, type InvalidPaths, isInvalid } from '../parse/config-section.ts'
import type { Fault, Path } from '../source/diagnostic.ts'

/** A rule's finding about a section; `path` is relative to the section. */
export interface Finding {
  readonly path: Path
  readonly at: 'key' | 'value'
  readonly message: string
}

/** A condition between the fields of a section, or between it and the rest of the file. */
export interface Rule<T> {
  /** The fields that the rule reads, such as `tokens.code.lifetime`. If one of them is invalid, the rule is skipped. */
  readonly reads: readonly string[]
  readonly check: (value: T) => Finding | undefined
}

/** A fault of a field's value, or of a missing value. */
export const valueAt = (path: Path | string, message: string): Finding => ({ path: asPath(path), at: 'value', message })

/** A fault of the key: it should not be there, or not with that name. */
export const keyAt = (path: Path | string, message: string): Finding => ({ path: asPath(path), at: 'key', message })

const asPath = (path: Path | string): Path => (typeof path === 'string' ? [path] : path)

/** Every fault that the rules find in a section. */
export const applyRules = <T>(
  rules: readonly Rule<T>[],
  { path, invalidPaths }: Pick<ConfigSection<unknown>, 'path' | 'invalidPaths'>,
  value: T,
): readonly Fault[] => {
  const faults: Fault[] = []
  for (const rule of rules) {
    const finding = mustWait(rule, invalidPaths) ? undefined : rule.check(value)
    if (finding) faults.push({ ...finding, path: [...path, ...finding.path] })
  }
  return faults
}

const mustWait = ({ reads }: Rule<never>, invalidPaths: InvalidPaths): boolean =>
  invalidPaths.length > 0 && reads.some(field => isInvalid(invalidPaths, field))
