import { ownMember } from '../../own-member.ts'
import type { Path } from './diagnostic.ts'

/** A mapping (with its keys) or a list (with its indexes) in the data of a configuration file. */
type Holder = Record<string | number, unknown>

/**
 * Calls `visit` for every value below the root, the outer before the inner, with the mapping or list that contains it
 * and its key or index; `place` is the path of that mapping or list, valid until the next call. If the callback
 * replaces a value, the walk continues in the new one.
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
