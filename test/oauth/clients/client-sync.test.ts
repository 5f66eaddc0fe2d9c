/** Clients of two sources: the store, which is followed as it changes, and the configuration. */
import t, { type Test } from 'tap'
import { createStoredClientReader } from '../../../src/config/stored-client.ts'
import { createClientSync } from '../../../src/oauth/clients/client-sync.ts'
import { joinClients } from '../../../src/oauth/clients/joined-clients.ts'
import { createFeedWatch } from '../../../src/oauth/feed-watch.ts'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import { type ClientRecord, type ClientStore, forgottenForMs } from '../../../src/stores/ports/clients.ts'
import { acceptedConfig, client, hash, publishing, token } from '../../config/support.ts'
import { eventually } from '../../support/eventually.ts'
import { createTestClock } from '../../support/test-clock.ts'

const config = await acceptedConfig(t, {
  ...publishing(token),
  plans: { gold: { rate: '1/1second' } },
  clients: [client({ client_id: 'filed', scope: 'filed' })],
})

const recordOf = (client_id: string, changes: object = {}, disabled = false): ClientRecord => ({
  members: JSON.stringify({
    client_id,
    client_secret_hash: hash,
    grant_types: ['client_credentials'],
    scope: 'stored',
    ...changes,
  }),
  disabled,
})

/** A store that is followed, and its served clients. @param first is in the store before the start */
const start = async (t: Test, first: Readonly<Record<string, ClientRecord>> = {}) => {
  const clock = createTestClock()
  let { clients } = createMemoryStore(clock)
  const put = async (client_id: string, record: ClientRecord | undefined) =>
    clients.put(client_id, record, (await clients.find(client_id))?.version)
  for (const [client_id, record] of Object.entries(first)) await put(client_id, record)
  const cursors: (string | undefined)[] = []
  let hasLost = false
  /** Records the calls, and can lose all its clients: then it knows no earlier cursor. */
  const asked: ClientStore = {
    ...clients,
    since: (cursor, take) => {
      cursors.push(cursor)
      const from = hasLost ? undefined : cursor
      hasLost = false
      return clients.since(from, take)
    },
  }
  const lose = (): void => {
    clients = createMemoryStore(clock).clients
    hasLost = true
  }
  const told: string[] = []
  // Another end each time: the store is read without a pause, so that a loss is noticed soon.
  let asks = 0
  const watch = createFeedWatch({ ends: async () => ({ revocations: '', cutoffs: '', clients: `${asks++}` }) })
  t.teardown(watch.close)
  const feed = createClientSync(asked, watch, clock, {
    beforeFirst: async () => void told.push('first'),
    changed: ({ client_id }, before, after) => told.push(`${client_id} ${before?.disabled} ${after?.disabled}`),
    lost: ({ count, keptDisabled }) => told.push(`lost ${count}, disabled ${keptDisabled}`),
  })
  t.teardown(feed.close)
  await feed.starting
  const served = joinClients(config.oauth.clients, feed, createStoredClientReader(config), {
    invalid: (client_id, reason) => told.push(`invalid ${client_id} ${reason}`),
    shadowed: client_id => told.push(`shadowed ${client_id}`),
  })
  return { clock, put, feed, served, told, cursors, lose }
}

t.test(
  'a client that is in the store before the start is served from the start, and is not reported as a change',
  async t => {
    const { served, told } = await start(t, { kept: recordOf('kept'), gone: recordOf('gone', {}, true) })

    t.match(served.find('kept'), { client_id: 'kept', plan: 'gold', scope: ['stored'] })
    t.equal(served.find('gone'), undefined)
    t.match(served.find('filed'), { client_id: 'filed' })
    t.equal(served.find('nobody'), undefined)
    t.same(told, ['first'])
  },
)

t.test('a client is the same object until it changes', async t => {
  const { served, put } = await start(t, { kept: recordOf('kept') })
  const before = served.find('kept')
  t.equal(served.find('kept'), before)
  t.ok(Object.isFrozen(before?.scope))

  await put('kept', recordOf('kept', { scope: 'more' }))

  await eventually(() => served.find('kept') !== before)
  t.match(served.find('kept'), { scope: ['more'] })
})

t.test('each change is reported once, with the client before and after it', async t => {
  const { served, told, put } = await start(t)
  await put('kept', recordOf('kept'))
  await eventually(() => served.find('kept'))
  await put('kept', recordOf('kept', {}, true))
  await eventually(() => !served.find('kept'))
  await put('kept', undefined)
  await eventually(() => !served.has('kept'))

  t.same(told, ['first', 'kept undefined false', 'kept false true', 'kept true undefined'])
})

t.test('the id of a disabled client is in use, in either source', async t => {
  const { served } = await start(t, { kept: recordOf('kept', {}, true), filed: { disabled: true } })

  t.equal(served.find('filed'), undefined)
  t.same(['kept', 'filed', 'nobody'].map(served.has), [true, true, false])
})

t.test('of two clients with one id the one of the configuration is served, and the other is reported', async t => {
  const { served, told } = await start(t, { filed: recordOf('filed') })

  t.match(served.find('filed'), { scope: ['filed'] })
  t.same(told, ['first', 'shadowed filed'])
})

t.test('an invalid client is not served, and is reported once until it changes', async t => {
  const { served, told, put } = await start(t, { kept: recordOf('kept', { plan: 'silver' }) })
  const reason = 'invalid kept plan: no such plan; known are gold'

  t.equal(served.find('kept'), undefined)
  t.equal(served.find('kept'), undefined)
  t.same(told, ['first', reason])

  await put('kept', recordOf('kept', { plan: 'gold' }))
  await eventually(() => served.find('kept'))
})

t.test('a record that is not a client does not affect other clients', async t => {
  const { served, told } = await start(t, { odd: { members: '{', disabled: false }, kept: recordOf('kept') })

  t.equal(served.find('odd'), undefined)
  t.ok(served.find('kept'))
  t.match(told, ['first', /invalid odd client_id: missing/])
})

t.test(
  'the totals over all clients include the clients of the store, and are the same object while nothing changes',
  async t => {
    const { served, put } = await start(t)
    const { internedMetadata: terms, maxSecretsPerKind } = served
    t.equal(terms, config.oauth.clients.internedMetadata)
    t.same(maxSecretsPerKind, { plain: 1, quick: 0, slow: 0 })

    await put('kept', recordOf('kept', { client_secrets: [{ client_secret_hash: hash, until: '2099-01-01T00:00Z' }] }))
    await eventually(() => served.find('kept'))
    t.same(
      served.internedMetadata.map(({ scope }) => scope),
      [['filed'], ['stored']],
    )
    t.same(served.maxSecretsPerKind, { plain: 1, quick: 2, slow: 0 })

    const now = served.internedMetadata
    await put('like', recordOf('like'))
    await eventually(() => served.find('like'))
    t.equal(served.internedMetadata, now, 'another client of the same kind')

    for (const client_id of ['kept', 'like']) await put(client_id, undefined)
    await eventually(() => !served.has('like'))
    t.same(
      served.internedMetadata.map(({ scope }) => scope),
      [['filed']],
    )
  },
)

t.test(
  'clients that the store has lost are not served, a disabled one stays disabled, and the loss is reported once',
  async t => {
    const { clock, served, told, put, cursors, lose } = await start(t, {
      kept: recordOf('kept'),
      off: recordOf('off', {}, true),
      filed: { disabled: true },
    })
    t.ok(served.find('kept'))

    lose()

    await eventually(() => !served.has('kept'))
    t.same(['kept', 'off', 'filed'].map(served.find), [undefined, undefined, undefined])
    const asked = cursors.length
    clock.advance(forgottenForMs)
    await eventually(() => cursors.slice(asked).lastIndexOf(undefined) >= 0 && cursors.at(-1) !== undefined)
    t.same(['off', 'filed'].map(served.find), [undefined, undefined], 'after another complete read')
    t.same(told, ['first', 'lost 3, disabled 2'])

    await put('off', recordOf('off'))
    await put('filed', undefined)
    await eventually(() => served.find('off') && served.find('filed'))
  },
)

t.test('a reader that was away for longer than the store keeps deletions reads everything', async t => {
  const { clock, cursors } = await start(t, { kept: recordOf('kept') })
  await eventually(() => cursors.includes('1'))
  const asked = cursors.length

  clock.advance(forgottenForMs)

  await eventually(() => cursors.slice(asked).includes(undefined))
})
