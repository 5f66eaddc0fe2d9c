import { inspect } from 'node:util'
import t from 'tap'
import { createClients, openClients } from '../../../src/oauth/clients/configured-clients.ts'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import { Secret } from '../../../src/secret.ts'
import { client, publicClient } from '../support/authorization-server.ts'

const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] }

const registrations: readonly ClientRegistration[] = [
  client('app', { secrets: [{ kind: 'plain', value: new Secret('one'), untilMs: 5 }] }),
  client('as app', { client_name: 'App "2"\n\u2028\u{1f600}' }),
  publicClient('__proto__'),
  client('jwt', { token_endpoint_auth_method: 'private_key_jwt', secrets: [], keys: { kind: 'jwks', jwks } }),
  client('pinned', { token_endpoint_auth_signing_alg: 'RS256', introspects: ['https://api.example'] }),
  client('tls', { certificateName: { kind: 'san_dns', value: 'tls.example' } }),
]

/** The value that arrives in another process. */
const sendOver = (clients: readonly ClientRegistration[]) =>
  openClients(JSON.parse(JSON.stringify(createClients(clients).pack())))

const revealed = (found: ClientRegistration | undefined): unknown =>
  found && { ...found, secrets: found.secrets.map(secret => ({ ...secret, value: secret.value.reveal() })) }

const isFrozen = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))

t.test('every client is found with its registration, here and in another process, and is frozen', async t => {
  for (const clients of [createClients(registrations), sendOver(registrations)]) {
    for (const registered of registrations) {
      const found = clients.find(registered.client_id)
      t.same(revealed(found), revealed(registered), registered.client_id)
      t.ok(isFrozen(found))
    }
  }
})

t.test(
  'a client is the same object each time, and all clients are listed in the order of their registration',
  async t => {
    const clients = sendOver(registrations)

    t.equal(clients.find('app'), clients.find('app'))
    t.same(
      [...clients].map(({ client_id }) => client_id),
      registrations.map(({ client_id }) => client_id),
    )
    t.equal([...clients][0], clients.find('app'))
  },
)

t.test('an unregistered client is not found, whatever its name', async t => {
  for (const clients of [createClients([client('app')]), createClients([])])
    for (const name of ['', 'App', 'app ', 'constructor', '__proto__', 'read']) t.equal(clients.find(name), undefined)
})

t.test('the registered values of all clients are listed once, in the order of their first use', async t => {
  const read = { scope: ['read'], grant_types: ['client_credentials'] } as const
  const write = { scope: ['write'], pkce: 'optional' } as const
  const changes = [read, read, write, { ...read }, { ...read, scope: ['read'] }, { ...write, scope: ['write', 'read'] }]

  const { internedMetadata: terms } = sendOver(changes.map((change, nth) => client(`c${nth}`, change)))

  t.match(terms, [read, write, { scope: ['write', 'read'] }])
  t.ok(isFrozen(terms))
})

t.test('scopes of one client are not those of the next one', async t => {
  const scopes = [['a,b'], ['a', 'b'], ['b', 'a'], ['a'], [], ['a b'], ['a,b']]

  const clients = sendOver(scopes.map((scope, nth) => client(`c${nth}`, { scope })))

  t.same(
    [...clients].map(({ scope }) => scope),
    scopes,
  )
})

t.test('the maximum number of secrets of one client is counted for each form', async t => {
  const plain = { kind: 'plain', value: new Secret('a') } as const
  const quick = { kind: 'hash', value: new Secret('sha256$a') } as const
  const slow = { kind: 'hash', value: new Secret('scrypt$a') } as const
  const secrets = [[plain, plain, slow], [quick], [slow, plain, slow], []]

  const { maxSecretsPerKind } = sendOver(secrets.map((own, nth) => client(`c${nth}`, { secrets: own })))

  t.same(maxSecretsPerKind, { plain: 2, quick: 1, slow: 2 })
})

t.test('secrets do not show when clients are printed or serialised', async t => {
  const clients = createClients([client('app', { secrets: [{ kind: 'plain', value: new Secret('hidden') }] })])
  const found = clients.find('app')

  t.notMatch(JSON.stringify([clients, found]) + inspect([clients, found], { depth: 20 }), 'hidden')
})
