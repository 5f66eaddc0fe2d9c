/**
 * The member of an object under a name that is not known before: undefined where the object itself has none. A plain lookup
 * finds `constructor` and `__proto__` in every object, because each inherits them. All of src/ looks up so
 * (`test/object-lookups.test.ts`); a table of our own that a text from outside is looked up in is a `Map`.
 */
export const ownMember = <Value>(object: Members<Value> | undefined, name: string | number): Value | undefined =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined

/** Sets a member of the object itself. A plain assignment to `__proto__` would replace its prototype. */
export const setOwnMember = <Value extends Of, Of>(
  object: Record<string | number, Of>,
  name: string | number,
  value: Value,
): void => {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

type Members<Value> = Readonly<Record<string | number, Value>>
