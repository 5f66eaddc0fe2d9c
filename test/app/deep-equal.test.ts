import t from 'tap'
import { deepEqual } from '../../src/app/deep-equal.ts'
import { Secret } from '../../src/secret.ts'

t.test('values that say the same are the same, whoever made them', async t => {
  const make = () => ({ a: [1, 'x', null], secret: new Secret('s'), texts: new Map([['read', { en: 'Read' }]]) })

  t.ok(deepEqual(make(), make()))
  t.ok(deepEqual({ a: 1, b: undefined }, { a: 1 }), 'what is undefined is as good as left out')
})

for (const [name, one, other] of [
  ['a member', { a: 1 }, { a: 2 }],
  ['a member more', { a: 1 }, { a: 1, b: 2 }],
  ['an item less', [1, 2], [1]],
  ['the order', [1, 2], [2, 1]],
  ['a list and what looks like it', [1], { 0: 1 }],
  ['a text and a number', '1', 1],
  ['a secret', { s: new Secret('one') }, { s: new Secret('other') }],
  ['a secret and its text', new Secret('one'), 'one'],
  ['a secret and no secret', { s: new Secret('one') }, { s: {} }],
  ['an entry of a map', new Map([['a', 1]]), new Map([['a', 2]])],
  ['a map and nothing', new Map([['a', 1]]), {}],
] as const) {
  t.test(`${name} tells two values apart`, async t => {
    t.notOk(deepEqual(one, other))
    t.notOk(deepEqual(other, one))
  })
}
