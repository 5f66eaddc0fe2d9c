/**
 * Makes `t.match` exact in every test file (plain-process.ts loads this). tap's own `t.match` accepts `read write` if
 * the pattern says `read`, any array for `[]`, any object for `{}`, and further items after the items of `[{…}]`.
 * Here a pattern may leave out fields of an object, and nothing else: a text, a number or a boolean has to be equal,
 * an array has as many items as the pattern, and `{}` matches an empty object. A part of a text is matched by a
 * regular expression. `t.throws`, `t.rejects` and `t.resolveMatch` match in the same way.
 */
import { Assertions } from '@tapjs/asserts'
import { Match } from 'tcompare'

const looseTest = Match.prototype.test

Match.prototype.test = function test(): ReturnType<typeof looseTest> {
  return mayMatch(this.object, this.expect) ? looseTest.call(this) : false
}

function mayMatch(found: unknown, pattern: unknown): boolean {
  if (pattern === null || (typeof pattern !== 'object' && typeof pattern !== 'function'))
    return Object.is(found, pattern)
  if (Array.isArray(pattern)) return Array.isArray(found) && found.length === pattern.length
  return !isEmptyObject(pattern) || (found !== null && typeof found === 'object' && isEmptyObject(found))
}

function isEmptyObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && Reflect.ownKeys(value).length === 0
}

const looseNotMatch = Assertions.prototype.notMatch

/**
 * One different field is enough for an object to differ, and no text contains an empty pattern: both would hide a
 * fault.
 */
Assertions.prototype.notMatch = function notMatch(found, unwanted, ...rest) {
  if (typeof found !== 'string') throw new TypeError('t.notMatch takes a text; compare an object with t.same')
  if (unwanted instanceof RegExp) return looseNotMatch.call(this, found, unwanted, ...rest)
  if (typeof unwanted !== 'string' || unwanted === '') throw new TypeError('t.notMatch takes a RegExp or a text')
  return looseNotMatch.call(this, found, new RegExp(unwanted.replace(/[^\w\s]/g, '\\$&')), ...rest)
}
