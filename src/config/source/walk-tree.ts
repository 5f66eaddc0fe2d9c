import { ownMember } from '../../own-member.ts'
import type { Path } from './diagnostic.ts'

/** What holds values in the data of a configuration file: a mapping by its keys, a list by its indexes. */
type Holder = Record<string | number, unknown>

/**
 * Shows every value below the root, the outer before the inner, by what holds it and its key or index there; `place` is
 * the path of the holder, good until the next call. What is put in a value's place is what is looked into.
 */
export const walkTree = (
  root: unknown,
  session: (holder: Holder, step: string | number, place: Path) => void,
): void => {
  const place: (string | number)[] = []
  const enter = (holder: Holder, step: string | number): void => {
    session(holder, step, place)
    const value = ownMember(holder, step)
    if (typeof value !== 'object' || value === null) return
    place.push(step)
    walk(value)
    place.pop()
  }
  const walk = (value: object): void => {
    if (Array.isArray(value))
      for (let index = 0; index < value.length; index++) enter(value as unknown as Holder, index)
    else for (const key in value) enter(value as Holder, key)
  }
  if (typeof root === 'object' && root !== null) walk(root)
}
