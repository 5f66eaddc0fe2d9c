/**
 * An object's own member; undefined if it has none of that name. For names that are not known in advance, because a
 * plain lookup finds `constructor` and `__proto__` in every object, which inherits them. All of src/ uses this function
 * (`test/object-lookups.test.ts`); our own tables with keys from outside are `Map`s.
 */
export const ownMember = <Value>(object: Members<Value> | undefined, name: string | number): Value | undefined =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined

/** Sets an object's own member. A plain assignment to `__proto__` would replace its prototype. */
export const setOwnMember = <Value extends Of, Of>(
  object: Record<string | number, Of>,
  name: string | number,
  value: Value,
): void => {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

type Members<Value> = Readonly<Record<string | number, Value>>
