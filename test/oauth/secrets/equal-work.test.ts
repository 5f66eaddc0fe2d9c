import { randomBytes, scryptSync } from 'node:crypto'
import t from 'tap'
import type { ClientSecret } from '../../../src/oauth/clients/metadata.ts'
import type { User } from '../../../src/oauth/options.ts'
import type { ScryptCost } from '../../../src/oauth/secrets/scrypt-cost.ts'
import { Secret } from '../../../src/secret.ts'
import { countWork } from '../support/scrypt-runs.ts'

// Imported after scrypt is counted.
const { basic, client, startServer } = await import('../support/authorization-server.ts')
const { enter, openBrowserRoom } = await import('../support/browser-flow.ts')
const { remainderOf, workOf } = await import('../../../src/oauth/secrets/scrypt-cost.ts')
const { createClients } = await import('../../../src/oauth/clients/configured-clients.ts')
const { createSecretCheck } = await import('../../../src/oauth/clients/client-secret.ts')
const { createStoredClients } = await import('../../../src/oauth/clients/stored-clients.ts')
const { maxPerKind } = await import('../../../src/oauth/clients/secret-kinds.ts')

const cheap: ScryptCost = { ln: 8, r: 8, p: 1 }
const medium: ScryptCost = { ln: 10, r: 8, p: 2 }
const costly: ScryptCost = { ln: 12, r: 8, p: 1 }

const hashOf = (password: string, { ln, r, p }: ScryptCost): Secret => {
  const salt = randomBytes(16)
  const hash = scryptSync(password, salt, 32, { N: 2 ** ln, r, p })
  return new Secret(`scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`)
}

const stored = (cost: ScryptCost): ClientSecret => ({ kind: 'hash', value: hashOf('right', cost) })

t.test('a wrong password takes the work of the costliest hash of all users, whatever the username', async t => {
  const users: readonly User[] = [
    { username: 'cheap', password_hash: hashOf('right', cheap) },
    { username: 'medium', password_hash: hashOf('right', medium) },
    { username: 'costly', password_hash: hashOf('right', costly) },
  ]
  const room = await openBrowserRoom(t, undefined, { users })
  const workFor = async (username: string, password: string): Promise<number> => {
    const guest = await enter(room)
    return countWork(() => guest.submit({ username, password }))
  }

  for (const username of ['unknown', 'cheap', 'medium', 'costly'])
    t.equal(await workFor(username, 'wrong'), workOf(costly), username)
  t.equal(await workFor('cheap', 'right'), workOf(cheap), 'a right password takes only the work of its hash')
})

t.test('if all hashes cost less than the default, an unknown username takes the same work as a known one', async t => {
  const room = await openBrowserRoom(t, undefined, {
    users: [{ username: 'cheap', password_hash: hashOf('right', cheap) }],
  })

  for (const username of ['unknown', 'cheap']) {
    const guest = await enter(room)
    t.equal(await countWork(() => guest.submit({ username, password: 'wrong' })), workOf(cheap), username)
  }
})

t.test('a wrong client secret takes the work of the costliest hash, times the most hashes of one client', async t => {
  const clients = [
    client('plain'),
    client('cheap', { secrets: [stored(cheap)] }),
    client('both', { secrets: [stored(medium), stored(cheap)] }),
    client('costly', { secrets: [stored(costly)] }),
  ]
  const { token } = await startServer(t, { clients })

  for (const client_id of ['unknown', 'plain', 'cheap', 'both', 'costly']) {
    const request = { authorization: [basic(client_id, 'wrong')] }
    const work = await countWork(() => token({ grant_type: 'client_credentials' }, { request }))
    t.equal(work, 2 * workOf(costly), client_id)
  }
})

t.test('the hashes of stored clients count too, as soon as they are known', async t => {
  const configured = createClients([client('cheap', { secrets: [stored(cheap)] })])
  const kept = createStoredClients()
  const facts = {
    get maxSecretsPerKind() {
      return maxPerKind(configured.maxSecretsPerKind, kept.maxSecretsPerKind())
    },
  }
  const check = createSecretCheck(facts, { nowMs: Date.now, monotonicMs: () => 0 })
  const workOfWrong = (client_id: string) => countWork(() => check(configured.find(client_id), 'wrong'))

  t.equal(await workOfWrong('cheap'), workOf(cheap))
  const members = JSON.stringify({ client_id: 'kept', client_secret_hash: hashOf('right', costly).reveal() })
  kept.set({ client_id: 'kept', version: '1', record: { members, disabled: false } })
  for (const client_id of ['unknown', 'cheap']) t.equal(await workOfWrong(client_id), workOf(costly), client_id)
})

t.test('the remaining work is done to within a sixteenth, with less memory than the whole work takes', async t => {
  const costs = [cheap, medium, costly, { ln: 15, r: 8, p: 1 }, { ln: 17, r: 8, p: 1 }, { ln: 14, r: 16, p: 5 }]
  for (const done of [...costs, { ln: 1, r: 1, p: 1 }])
    for (const whole of costs) {
      const left = workOf(whole) - workOf(done)
      const rest = remainderOf(done, whole)
      if (left < whole.r) {
        t.equal(rest, undefined)
        continue
      }
      t.ok(rest && Math.abs(workOf(rest) - left) <= left / 16, `${JSON.stringify([done, whole, rest])}`)
      t.ok(rest && rest.ln <= whole.ln)
    }
})
