import t from 'tap'
import { deepFreeze } from '../src/deep-freeze.ts'

t.test('every object inside a value is frozen, and the value itself is returned', async t => {
  const value = { list: [{ name: 'a' }], none: null, text: 'b' }

  t.equal(deepFreeze(value), value)
  for (const part of [value, value.list, value.list[0]]) t.ok(Object.isFrozen(part))
})

t.test('a primitive value is returned as it is', async t => {
  for (const value of ['a', 1, undefined, null]) t.equal(deepFreeze(value), value)
})
