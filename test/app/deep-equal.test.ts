import t from 'tap'
import { deepEqual } from '../../src/app/deep-equal.ts'
import { Secret } from '../../src/secret.ts'

t.test('two values with the same content are equal, even if they were created separately', async t => {
  const make = () => ({ a: [1, 'x', null], secret: new Secret('s'), texts: new Map([['read', { en: 'Read' }]]) })

  t.ok(deepEqual(make(), make()))
  t.ok(deepEqual({ a: 1, b: undefined }, { a: 1 }), 'a member that is undefined equals a missing member')
})

for (const [name, one, other] of [
  ['a different member', { a: 1 }, { a: 2 }],
  ['an additional member', { a: 1 }, { a: 1, b: 2 }],
  ['a missing item', [1, 2], [1]],
  ['a different order', [1, 2], [2, 1]],
  ['a list and an object with the same members', [1], { 0: 1 }],
  ['a text and a number', '1', 1],
  ['a different secret', { s: new Secret('one') }, { s: new Secret('other') }],
  ['a secret and its text', new Secret('one'), 'one'],
  ['a secret and no secret', { s: new Secret('one') }, { s: {} }],
  ['a different entry of a map', new Map([['a', 1]]), new Map([['a', 2]])],
  ['a map and an empty object', new Map([['a', 1]]), {}],
] as const) {
  t.test(`two values are not equal: ${name}`, async t => {
    t.notOk(deepEqual(one, other))
    t.notOk(deepEqual(other, one))
  })
}
