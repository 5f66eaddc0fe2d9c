import t from 'tap'
import { hasScopes } from '../../src/gateway/authn/granted-scopes.ts'

t.test('a scope is granted where it is a whole word of the token, and every one that is needed has to be', async t => {
  const words = ['a', 'aa', 'a:b', 'b', 'ab', 'read', 'read:all', 'all']
  const texts = words.flatMap(one => [
    one,
    ...words.flatMap(two => [`${one} ${two}`, ...words.map(three => `${one} ${two} ${three}`)]),
  ])

  for (const granted of ['', ...texts]) {
    const expected = words.filter(word => granted.split(' ').includes(word))
    t.same(
      words.filter(word => hasScopes(granted, [word])),
      expected,
      granted,
    )
  }
  t.ok(hasScopes('read write', ['write', 'read']))
  t.notOk(hasScopes('read write', ['read', 'delete']))
  t.ok(hasScopes('', []))
})
