/** No client gets an id that the operator's own login has used as the `sub` of a user. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock.ts'
import { isKnownSubject } from '../../src/oauth/interaction/known-subjects.ts'
import { findDigest } from '../../src/oauth/keys/loaded-keys.ts'
import { openStore, parseStoreUrl } from '../../src/stores/open.ts'
import type { Store } from '../../src/stores/ports/store.ts'
import { sidegate } from '../cli/run.ts'
import { post } from '../oauth/support/post.ts'
import { callback } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { type Bank, begin, redirectOf, startBank, verifier } from './support/bank.ts'

const newClient = ({ gateway }: Bank, id: string) =>
  sidegate([
    ...['client', 'new', '--id', id, '--grant', 'client_credentials', '--save'],
    ...['--config', join(gateway.dir, 'sidegate.yaml')],
  ])

const signIn = async ({ gateway, caller }: Bank, sub: string): Promise<string> => {
  const browser = await begin(gateway)
  const back = await browser.follow(await redirectOf(await caller.call(`${browser.id}/accept`, { sub })))
  return new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
}

const redeem = ({ gateway }: Bank, code: string) =>
  post(
    `${gateway.url}/token`,
    { grant_type: 'authorization_code', redirect_uri: callback, code_verifier: verifier, code },
    'app',
  )

const openStoreAt = async (t: Test, address: string): Promise<Store> => {
  const url = parseStoreUrl(address)
  if ('problem' in url) throw new Error(url.problem)
  const store = await openStore(url, systemClock)
  t.teardown(() => store.close())
  return store
}

/** On so many connections at once that each of four workers gets one of them. */
const asks = 60

const hasSubject = async (store: Store, sub: string): Promise<boolean> => {
  const digest = findDigest(await store.keys.load(systemClock.nowMs()))
  return digest !== undefined && isKnownSubject(store.subjects, sub, digest)
}

const addresses = {
  sqlite: async (t: Test) => `sqlite:${join(t.testdir(), 'sidegate.db')}`,
  redis: async (t: Test) => (await startRedis(t)).url,
}

for (const [name, address] of Object.entries(addresses)) {
  t.test(`subjects of a hand-off over ${name} and four workers`, async t => {
    const store = await address(t)
    const bank = await startBank(t, { store })
    const redeemed = await redeem(bank, await signIn(bank, 'customer-17'))
    t.equal(redeemed.status, 200)

    await t.test('the command refuses a client with the sub of a person, and prints no secret', async t => {
      const refused = await newClient(bank, 'customer-17')

      t.equal(refused.code, 1)
      t.equal(refused.stdout, '')
      t.match(refused.stderr, /"customer-17" is the sub of a user that has signed in/)
      t.equal(await (await openStoreAt(t, store)).clients.find('customer-17'), undefined)
    })
    await t.test('a sub that is the id of a new client is refused, before the workers know that client', async t => {
      const browser = await begin(bank.gateway)
      const made = await newClient(bank, 'customer-18')
      const accepted = await bank.caller.call(`${browser.id}/accept`, { sub: 'customer-18' })

      t.equal(made.code, 0, made.stderr)
      t.equal(accepted.status, 409)
    })
    await t.test('when a client has the id after all, the codes and refresh tokens of the person end', async t => {
      const code = await signIn(bank, 'customer-17')
      const refresh_token = String(redeemed.body.refresh_token)
      const refresh = () => post(`${bank.gateway.url}/token`, { grant_type: 'refresh_token', refresh_token }, 'app')
      t.equal((await refresh()).status, 200)
      const { clients } = await openStoreAt(t, store)
      await clients.put('customer-17', { disabled: true }, undefined)

      await eventually(async () => {
        const answers = await Promise.all(Array.from({ length: asks }, refresh))
        return answers.every(({ status, body }) => status === 400 && body.error === 'invalid_grant')
      })
      t.equal((await redeem(bank, code)).body.error, 'invalid_grant')
    })
  })
}

t.test('a client is taken back if the login names its id while the command stores it', async t => {
  const path = join(t.testdir(), 'sidegate.db')
  const bank = await startBank(t, { store: `sqlite:${path}` })
  const store = await openStoreAt(t, `sqlite:${path}`)
  await signIn(bank, 'customer-17')
  t.equal(await hasSubject(store, 'customer-17'), true)
  const db = new DatabaseSync(path, { timeout: 1000 })
  t.teardown(() => db.close())
  // The row moves aside, and is there again as soon as the command has stored the client.
  db.exec(`
    CREATE TABLE aside AS SELECT * FROM subjects;
    DELETE FROM subjects;
    CREATE TRIGGER named AFTER INSERT ON clients BEGIN INSERT OR IGNORE INTO subjects SELECT * FROM aside; END`)

  const refused = await newClient(bank, 'customer-17')

  t.equal(refused.code, 1)
  t.match(refused.stderr, /"customer-17" is the sub of a user/)
  t.equal(await store.clients.find('customer-17'), undefined)
})
