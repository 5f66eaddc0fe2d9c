import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { clientDelete } from '../../src/cli/client/delete.ts'
import { clientDisable, clientEnable } from '../../src/cli/client/enable.ts'
import { clientList } from '../../src/cli/client/list.ts'
import { clientNew } from '../../src/cli/client/new.ts'
import { clientRotateSecret } from '../../src/cli/client/rotate-secret.ts'
import { rotateSecret } from '../../src/cli/client/rotate-secret-list.ts'
import type { Command } from '../../src/cli/command.ts'
import { systemClock } from '../../src/clock.ts'
import { verifySecretHash } from '../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../src/secret.ts'
import { openStore } from '../../src/stores/open.ts'
import { acceptedConfig, client, hash, makeFolder, publishing, token, writeConfig } from '../config/support.ts'
import { countLines, sidegate } from './run.ts'

const path = join(makeFolder(t), 'clients.db')
const config = {
  store: `sqlite:${path}`,
  ...publishing(token),
  plans: { gold: { rate: '1/1second' }, silver: { rate: '1/1second' } },
  clients: [
    client({ client_id: 'filed', plan: 'gold' }),
    client({ client_id: 'off', plan: 'gold', client_name: 'Switched off' }),
    { client_id: 'spa', plan: 'gold', grant_types: ['refresh_token'], token_endpoint_auth_method: 'none' },
    client({ client_id: 'full', plan: 'gold', client_secrets: Array(4).fill({ client_secret_hash: hash }) }),
  ],
}
const file = writeConfig(t, config)

const store = await openStore({ kind: 'sqlite', path }, systemClock)
t.teardown(() => store.close())
const members = (client_id: string, changes: object = {}) =>
  JSON.stringify({
    client_id,
    client_secret_hash: hash,
    grant_types: ['client_credentials'],
    plan: 'silver',
    ...changes,
  })
const put = (client_id: string, changes?: object, disabled = false) =>
  store.clients.put(client_id, { members: members(client_id, changes), disabled }, undefined)

await put('kept', { client_secrets: [{ client_secret_hash: hash, until: '2099-01-31T12:00Z' }] })
await put('paused', {}, true)
await put('stale', { plan: 'bronze' })
await put('filed')
await put('junk', { client_id: 'another' })
await store.clients.put('off', { disabled: true }, undefined)
await store.clients.put('past', { disabled: true }, undefined)

const save = ['--grant', 'client_credentials', '--save']

t.test('client list shows where each client is stored, whether it is served, and when its secrets expire', async t => {
  const [people, machines] = await Promise.all([
    sidegate(['client', 'list', '--config', file]),
    sidegate(['client', 'list', '--config', file, '--json']),
  ])

  t.equal(people.code, 0, people.stderr)
  t.same(
    people.stdout
      .trimEnd()
      .split('\n')
      .map(line => line.split(/ {2,}/)),
    [
      ['ID', 'NAME', 'IN', 'STATE', 'PLAN', 'METHOD', 'SECRETS GOOD UNTIL'],
      ['filed', 'filed', 'configuration', 'served', 'gold', 'client_secret_basic', 'no end'],
      ['off', 'Switched off', 'configuration', 'disabled', 'gold', 'client_secret_basic', 'no end'],
      ['spa', 'spa', 'configuration', 'served', 'gold', 'none', '-'],
      [
        'full',
        'full',
        'configuration',
        'served',
        'gold',
        'client_secret_basic',
        'no end, no end, no end, no end, no end',
      ],
      ['kept', 'kept', 'store', 'served', 'silver', 'client_secret_basic', 'no end, 2099-01-31T12:00:00.000Z'],
      ['paused', 'paused', 'store', 'disabled', 'silver', 'client_secret_basic', 'no end'],
      ['stale', '-', 'store', 'invalid (plan: no such plan; known are gold, silver)', '-', '-', '-'],
      ['filed', 'filed', 'store', 'shadowed', 'silver', 'client_secret_basic', 'no end'],
      ['junk', '-', 'store', 'invalid (client_id: differs from the client_id that it is stored under)', '-', '-', '-'],
      ['past', '-', 'nowhere', 'disabled', '-', '-', '-'],
    ],
  )
  const listed = JSON.parse(machines.stdout).clients
  t.equal(listed.length, 10)
  t.same(listed[4], {
    client_id: 'kept',
    in: 'store',
    state: 'served',
    client_name: 'kept',
    plan: 'silver',
    grant_types: ['client_credentials'],
    scope: '',
    token_endpoint_auth_method: 'client_secret_basic',
    secrets: [{}, { until: '2099-01-31T12:00:00.000Z' }],
  })
})

t.test('check --store reports the clients of the store that the configuration would not serve', async t => {
  const fitting = writeConfig(t, { ...config, store: `sqlite:${join(makeFolder(t), 'none.db')}` })
  const [people, machines, good] = await Promise.all([
    sidegate(['check', '--store', '--config', file]),
    sidegate(['check', '--store', '--json', '--config', file]),
    sidegate(['check', '--store', '--config', fitting]),
  ])

  t.equal(people.code, 1)
  t.equal(
    people.stderr,
    `${file}: "stale" of the store does not fit: plan: no such plan; known are gold, silver\n${file}: "junk" of the store does not fit: client_id: differs from the client_id that it is stored under\n`,
  )
  t.equal(machines.code, 1)
  t.match(JSON.parse(machines.stdout), {
    ok: false,
    problems: [],
    invalid: [{ client_id: 'stale', reason: 'plan: no such plan; known are gold, silver' }, { client_id: 'junk' }],
  })
  t.match(good, { code: 0, stdout: 'ok\n', stderr: '' })
})

t.test(
  'before the first start client list shows only the clients of the file; client new --save creates the store',
  async t => {
    const early = join(makeFolder(t), 'early', 'sidegate.db')
    const config = writeConfig(t, {
      store: `sqlite:${early}`,
      ...publishing(token),
      plans: { gold: { rate: '1/1second' } },
    })
    const list = () => sidegate(['client', 'list', '--json', '--config', config])

    const before = await list()
    t.match(before, { code: 0, stdout: '{"clients":[]}\n' })
    t.notOk(existsSync(early))
    t.match(await sidegate(['client', 'new', '--id', 'first', ...save, '--config', config]), { code: 0, stderr: '' })
    t.match(JSON.parse((await list()).stdout), { clients: [{ client_id: 'first', in: 'store', state: 'served' }] })
  },
)

t.test('a scope that no operation and no other client uses is saved, with a hint', async t => {
  const config = writeConfig(t, { store: `sqlite:${join(makeFolder(t), 'scopes.db')}`, ...publishing(token) })
  const add = (id: string, scope: string) =>
    sidegate(['client', 'new', '--id', id, ...save, '--scope', scope, '--config', config])

  const first = await add('first', 'items:read offline_access')
  const second = await add('second', 'items:read item:read')

  t.match(first, { code: 0, stderr: 'sidegate: no operation and no other client uses the scope "items:read"\n' })
  t.match(second, { code: 0, stderr: / the scope "item:read"; did you mean items:read\?\n$/ })
  t.equal(countLines(second.stderr), 1)
})

t.test(
  'the new secret of a client of the file is printed for pasting, with the digest and the end of the old secret',
  async t => {
    const { code, stdout } = await sidegate(['client', 'rotate-secret', 'filed', '--config', file, '--keep', '1h'])

    t.equal(code, 0)
    t.notMatch(stdout, 'shop-secret')
    const secret = /^client_secret: (\S+) {2}# shown only once/.exec(stdout)?.[1] ?? ''
    const pasted = `clients:\n${stdout.slice(stdout.indexOf('  - client_id'))}    grant_types: [client_credentials]\n`
    const { oauth } = await acceptedConfig(
      t,
      `${pasted}groupings: [{ name: G, operations: [${JSON.stringify(token)}] }]`,
    )
    const [now, before] = oauth.clients.find('filed')?.secrets ?? []
    t.ok(now && (await verifySecretHash(new Secret(secret), now.value)))
    t.equal(now?.untilMs, undefined)
    t.ok(before && (await verifySecretHash(new Secret('shop-secret'), before.value)))
    t.ok((before?.untilMs ?? 0) > Date.now())
  },
)

t.test(
  'an old secret ends at its own end or the new one, whichever is sooner; an expired secret is removed',
  async t => {
    const held = [
      { hash: 'a' },
      { hash: 'b', untilMs: 1500 },
      { hash: 'c', untilMs: 9000 },
      { hash: 'd', untilMs: 1000 },
    ]
    const at = (ms: number) => new Date(ms).toISOString()

    t.same(rotateSecret('new', held, 1000, 2000), {
      client_secret_hash: 'new',
      client_secrets: [
        { client_secret_hash: 'a', until: at(2000) },
        { client_secret_hash: 'b', until: at(1500) },
        { client_secret_hash: 'c', until: at(2000) },
      ],
    })
    t.same(rotateSecret('new', held, 1000, 1000), { client_secret_hash: 'new' })
  },
)

/** Whether everything that was issued to this client has been revoked. */
const isCutOff = async (client_id: string): Promise<boolean> =>
  (await store.cutoffs.since(undefined)).cutoffs.some(cutoff => cutoff.client_id === client_id)

t.test('a deletion that fails midway leaves the client disabled, and a second deletion completes it', async t => {
  await put('doomed')
  const db = new DatabaseSync(path)
  t.teardown(() => db.close())
  db.exec("CREATE TRIGGER full BEFORE INSERT ON cutoffs BEGIN SELECT raise(FAIL, 'no room'); END")
  const run = () => sidegate(['client', 'delete', 'doomed', '--config', file])

  t.match(await run(), { code: 1, stdout: '' })
  t.match(await store.clients.find('doomed'), { members: String, disabled: true })

  db.exec('DROP TRIGGER full')
  t.match(await run(), {
    code: 0,
    stdout: 'doomed is deleted from the store, and everything that was issued to it is revoked\n',
  })
  t.equal(await store.clients.find('doomed'), undefined)
  t.ok(await isCutOff('doomed'))
})

t.test(
  'tokens of a removed client are revoked by client delete, and by the creation of a client with the same id',
  async t => {
    await put('again')
    await store.clients.put('again', undefined, (await store.clients.find('again'))?.version)
    const run = (...args: readonly string[]) => sidegate(['client', ...args, '--config', file])

    const [deleted, made, fresh] = await Promise.all([
      run('delete', 'gone'),
      run('new', '--id', 'again', '--plan', 'gold', ...save),
      run('new', '--id', 'fresh', '--plan', 'gold', ...save),
    ])

    t.match(deleted, {
      code: 0,
      stdout: /^the store has no client "gone"; everything that was issued to a client with this id is/,
    })
    t.match([made, fresh], [{ code: 0 }, { code: 0 }])
    t.same(await Promise.all(['gone', 'again', 'fresh'].map(isCutOff)), [true, true, false])
  },
)

const absent = writeConfig(t, { ...config, store: 'sqlite:/absent/folder/sidegate.db' })
const inMemory = writeConfig(t, { ...config, store: 'memory:', workers: 1 })

const refusals: readonly (readonly [says: string, command: Command, args: readonly string[], message: RegExp])[] = [
  ['no client', clientDisable, [], /^CLIENT_ID is missing$/],
  ['an empty name', clientEnable, ['', '--config', file], /^CLIENT_ID is missing$/],
  ['two clients at a time', clientDelete, ['kept', 'paused', '--config', file], /^one CLIENT_ID at a time$/],
  ['an unknown client', clientDisable, ['nobody', '--config', file], /neither .* has a client "nobody"$/],
  ['an unknown client', clientEnable, ['nobody', '--config', file], /neither .* has a client "nobody"$/],
  ['an unknown client', clientRotateSecret, ['nobody', '--config', file], /neither .* has a client "nobody"$/],
  [
    'to delete a client of the file',
    clientDelete,
    ['spa', '--config', file],
    /"spa" is a client of the configuration; remove it/,
  ],
  [
    'a new secret for a public client',
    clientRotateSecret,
    ['spa', '--config', file],
    /"spa" has no secret \(.*none\)$/,
  ],
  [
    'a new secret for an invalid client',
    clientRotateSecret,
    ['stale', '--config', file],
    /"stale" does not fit .*: plan: no/,
  ],
  [
    'a sixth valid secret',
    clientRotateSecret,
    ['full', '--config', file],
    /^"full" would have 6 valid secrets, but at most 5 are allowed; with --keep 0s the current ones end at once$/,
  ],
  [
    'an invalid duration',
    clientRotateSecret,
    ['kept', '--keep', '1 day', '--config', file],
    /^--keep takes a duration/,
  ],
  [
    'an unlimited duration',
    clientRotateSecret,
    ['kept', '--keep', '9999d', '--config', file],
    /^--keep takes .* most 366d$/,
  ],
  [
    'no store',
    clientDisable,
    ['spa', '--config', absent],
    /^there is no store at \/absent\/folder\/sidegate\.db; the gateway creates it/,
  ],
  ["the gateway's memory", clientList, ['--config', inMemory], /only in the gateway's own process/],
  ['no configuration to save to', clientNew, ['--id', 'new', ...save], /^name the configuration with --config FILE/],
  [
    'a configuration whose store saves nothing',
    clientNew,
    ['--id', 'new', '--grant', 'client_credentials', '--config', file],
    /^--config is for --save$/,
  ],
  [
    'the id of a client of the file',
    clientNew,
    ['--id', 'spa', ...save, '--plan', 'gold', '--config', file],
    /^the configuration has a client "spa"$/,
  ],
  [
    'the id of a client of the store',
    clientNew,
    ['--id', 'kept', ...save, '--plan', 'gold', '--config', file],
    /^the store has a client "kept" already; sidegate client list shows it$/,
  ],
  [
    'the id of a disabled client',
    clientNew,
    ['--id', 'past', ...save, '--plan', 'gold', '--config', file],
    /^the store has a client "past" already/,
  ],
  [
    'an unknown plan',
    clientNew,
    ['--id', 'new', ...save, '--plan', 'bronze', '--config', file],
    /^the client does not fit the configuration: plan: no such plan; known are gold, silver$/,
  ],
]

for (const [says, command, args, message] of refusals) {
  t.test(`${command.name} refuses ${says}`, async t => {
    await t.rejects(async () => command.run(args), { message })
  })
}

t.test('a refused command has changed nothing', async t => {
  t.equal(await store.clients.find('new'), undefined)
  t.match(await store.clients.find('kept'), { disabled: false })
  t.match(await store.clients.find('past'), { disabled: true })
})
