import t from 'tap'
import { createCachedParse } from '../../../src/config/parse/cached-parse.ts'
import { clientSchema } from '../../../src/config/schema/clients.ts'
import { Secret } from '../../../src/secret.ts'
import { client, problemsOf } from '../support.ts'

const many = 50

const kinds: Readonly<Record<string, (nth: number) => Record<string, unknown>>> = {
  'give few keys': nth => ({ client_id: `c${nth}`, client_secret: `s${nth}` }),
  'give the same values, and others, in turns': nth => ({
    client_id: `c${nth >> 1}`,
    client_secret: `s${nth >> 2}`,
    grant_types: nth % 5 < 3 ? ['client_credentials'] : ['client_credentials', 'refresh_token'],
    scope: nth % 3 === 0 ? 'a b' : 'a',
    dpop_bound_access_tokens: nth % 4 > 1 || 'true',
    jwks: { keys: [] },
  }),
  'give a key without value': nth => ({ client_id: `c${nth}`, scope: undefined, pkce: undefined }),
  'lack a key that they need': nth => ({ client_name: `c${nth}` }),
  'have a key that is unknown': nth => ({ client_id: `c${nth}`, 'client_id,scope': 'a' }),
  'have a wrong value, now and then': nth => ({ client_id: `c${nth}`, scope: nth % 7 === 0 ? 7 : 'a b' }),
}

/** With its secrets readable. */
const revealed = (data: object | undefined): unknown =>
  data &&
  Object.entries(data)
    .map(([key, value]) => [key, value instanceof Secret ? value.reveal() : value])
    .sort()

for (const [what, make] of Object.entries(kinds)) {
  t.test(`mappings that ${what} are parsed as their schema does it, however many they are`, async t => {
    const parse = createCachedParse(clientSchema)
    const raw = Array.from({ length: many }, (_, nth) => make(nth))

    const [sparse, whole] = [raw.map(parse), raw.map(one => clientSchema.safeParse(one))]

    t.same(
      sparse.map(({ data }) => revealed(data)),
      whole.map(({ data }) => revealed(data)),
    )
    t.same(
      sparse.map(({ error }) => error?.issues),
      whole.map(({ error }) => error?.issues),
    )
  })
}

t.test('a value that is not a mapping is refused among many mappings', async t => {
  const parse = createCachedParse(clientSchema)
  for (let nth = 0; nth < many; nth++) parse({})

  for (const raw of [undefined, 5, 'text', [], ['a']]) t.notOk(parse(raw).success)
})

t.test('a problem of one of many clients names its place', async t => {
  const clients = Array.from({ length: many }, (_, nth) => client({ client_id: `c${nth}` }))
  const wrong = [...clients, client({ client_id: 'last', scope: 7 }), client({ client_id: 'c7' })]

  t.match(await problemsOf(t, { clients: wrong }), [
    new RegExp(`clients\\[${many}\\]\\.scope: must be one text`),
    new RegExp(`clients\\[${many + 1}\\]\\.client_id: another client has this client_id`),
  ])
})
