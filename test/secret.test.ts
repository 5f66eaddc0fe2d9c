import { format, inspect } from 'node:util'
import t from 'tap'
import { Secret } from '../src/secret.ts'

t.test('a secret shows as [secret] wherever it is printed, joined or serialised', async t => {
  const secret = new Secret('swordfish')
  const shown = {
    template: `${secret}`,
    concatenated: `a${String(secret)}`,
    joined: [secret].join(),
    inspected: inspect(secret),
    nested: inspect({ deep: { secret } }),
    formatted: format('%s %o', secret, secret),
    serialised: JSON.stringify({ secret }),
    copied: JSON.stringify({ ...secret }),
  }

  for (const [way, text] of Object.entries(shown)) t.notMatch(text, /swordfish/, way)
  t.equal(shown.template, '[secret]')
  t.equal(shown.inspected, '[secret]')
  t.equal(shown.serialised, '{"secret":"[secret]"}')
})

t.test('only reveal gives it out', async t => {
  t.equal(new Secret('swordfish').reveal(), 'swordfish')
})
