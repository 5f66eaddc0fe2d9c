import t from 'tap'
import { auditClients } from '../../src/app/audit-events.ts'
import type { StoredClient } from '../../src/oauth/clients/stored-clients.ts'

const version = '7'

const shop = { client_id: 'shop', client_secret_hash: 'one' }

const stored = (members: object | undefined, disabled = false): StoredClient => ({
  version,
  disabled,
  members: () => members && { ...members },
})

type State = StoredClient | undefined

const cases: readonly (readonly [says: string, before: State, after: State, lines: readonly object[]])[] = [
  ['a new client', undefined, stored(shop), [{ action: 'client_created' }]],
  ['a client that is disabled', stored(shop), stored(shop, true), [{ action: 'client_disabled' }]],
  ['a client of the file that is disabled', undefined, stored(undefined, true), [{ action: 'client_disabled' }]],
  ['a client that is enabled', stored(shop, true), stored(shop), [{ action: 'client_enabled' }]],
  ['a client of the file that is enabled', stored(undefined, true), undefined, [{ action: 'client_enabled' }]],
  [
    'a new secret',
    stored(shop),
    stored({ ...shop, client_secret_hash: 'two' }),
    [{ action: 'client_changed', reason: 'secret' }],
  ],
  ['another plan', stored(shop), stored({ ...shop, plan: 'gold' }), [{ action: 'client_changed', reason: 'members' }]],
  ['a client that is deleted', stored(shop, true), undefined, [{ action: 'client_deleted' }]],
  [
    'two changes that arrive together',
    undefined,
    stored(shop, true),
    [{ action: 'client_created' }, { action: 'client_disabled' }],
  ],
  ['a client that has not changed', stored(shop), stored({ ...shop }), []],
  ['a client that was removed before the feed delivered it', undefined, undefined, []],
]

for (const [says, before, after, lines] of cases) {
  t.test(`the audit lines of ${says}`, async t => {
    const said: object[] = []
    const ids = new Set<string>()

    auditClients((id, entry) => {
      ids.add(id)
      said.push(entry)
    })({ client_id: 'shop', version, record: undefined }, before, after)

    t.same(
      said,
      lines.map(line => ({ ...line, client_id: 'shop' })),
    )
    t.equal(ids.size, lines.length, 'each has an id of its own')
  })
}
