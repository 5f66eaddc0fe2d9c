import t from 'tap'
import { answerOf, ask } from '../support/browser-flow.ts'
import { accept, openHandoffRoom, send } from './support.ts'

const nobody = 'A'.repeat(22)

t.test('the login gets the facts of the request, without the secrets of the browser', async t => {
  const scopeTexts = new Map([
    ['accounts:read', { en: 'Read your accounts', fr: 'Lire vos comptes' }],
    ['accounts:write', { en: 'Change your accounts' }],
  ])
  const room = await openHandoffRoom(t, {}, { scopeTexts })
  const more = { acr_values: 'low high', ui_locales: 'de-AT en', login_hint: 'zoe@example.com' }
  const { id } = await send(room, ask({ scope: 'accounts:read offline_access', ...more }))

  t.same(await room.backChannel.describe(id), {
    kind: 'answer',
    body: {
      client_id: 'demo',
      client_name: 'Demo client',
      redirect_host: '127.0.0.1:3000',
      scope: ['accounts:read', 'offline_access'],
      scope_texts: { 'accounts:read': { en: 'Read your accounts', fr: 'Lire vos comptes' } },
      resource: [],
      acr_values: ['low', 'high'],
      ui_locales: ['de-AT', 'en'],
      login_hint: 'zoe@example.com',
      expires_at: new Date(1_700_000_900_000).toISOString(),
    },
  })
})

t.test('an unknown or finished interaction is unknown to every call', async t => {
  const room = await openHandoffRoom(t)
  const { id } = await send(room)
  room.advanceSec(900)

  for (const unknown of [id, nobody]) {
    t.same(await room.backChannel.describe(unknown), { kind: 'unknown' })
    t.same(await room.backChannel.accept(unknown, { sub: 'person-1' }), { kind: 'unknown' })
    t.same(await room.backChannel.reject(unknown, { error: 'access_denied' }), { kind: 'unknown' })
  }
})

t.test('the same decision gets the same response again, sequentially or concurrently', async t => {
  const room = await openHandoffRoom(t)
  const { id } = await send(room)
  const decision = { sub: 'person-1', acr: 'high', granted_scopes: ['accounts:read'] }
  const reordered = { granted_scopes: ['accounts:read'], acr: 'high', sub: 'person-1' }

  const calls = Array.from({ length: 10 }, (_, i) => accept(room, id, i % 2 === 0 ? decision : reordered))
  const answers = new Set(await Promise.all(calls))
  room.advanceSec(10)

  t.equal(answers.size, 1)
  t.equal(await accept(room, id, decision), [...answers][0])
})

t.test('a decision is final: another one is a conflict, also after the browser has resumed', async t => {
  const room = await openHandoffRoom(t)
  const browser = await send(room)
  const resume = await accept(room, browser.id, { sub: 'person-1' })
  const others = [{ sub: 'person-2' }, { sub: 'person-1', acr: 'high' }]

  for (const other of others) t.equal(await accept(room, browser.id, other), 'conflict')
  t.match(await room.backChannel.reject(browser.id, { error: 'access_denied' }), { kind: 'conflict' })
  const { code = '' } = answerOf(await browser.follow(resume))
  t.equal(await accept(room, browser.id, { sub: 'person-2' }), 'conflict')
  t.equal(await accept(room, browser.id, { sub: 'person-1' }), resume)
  t.match(await room.redeem(code), { kind: 'redeemed', record: { sub: 'person-1' } })
})

t.test('a rejection is final too', async t => {
  const room = await openHandoffRoom(t)
  const { id } = await send(room)
  const first = await room.backChannel.reject(id, { error: 'login_required' })

  t.match(first, { kind: 'answer' })
  t.same(await room.backChannel.reject(id, { error: 'login_required' }), first)
  t.match(await room.backChannel.reject(id, { error: 'access_denied' }), { kind: 'conflict' })
  t.equal(await accept(room, id), 'conflict')
})

t.test('a decision that does not match the request is a conflict and changes nothing', async t => {
  const room = await openHandoffRoom(t)
  const { id } = await send(room, ask({ acr_values: 'low high' }))
  const fitting = { sub: 'person-1', acr: 'high' }
  const misfits: readonly (readonly [string, object])[] = [
    ['sub is the id of a client.', { ...fitting, sub: 'other' }],
    ['acr is not one of the requested acr_values.', { sub: 'person-1' }],
    ['acr is not one of the requested acr_values.', { ...fitting, acr: 'hig' }],
    ['granted_scopes contains a scope that was not requested.', { ...fitting, granted_scopes: ['accounts:write'] }],
    ['granted_scopes contains a scope that was not requested.', { ...fitting, granted_scopes: ['Accounts:read'] }],
    ['granted_scopes is empty; reject the interaction instead.', { ...fitting, granted_scopes: [] }],
    ['auth_time is in the future.', { ...fitting, auth_time: 1_700_000_061 }],
  ]

  for (const [reason, misfit] of misfits) {
    t.same(await room.backChannel.accept(id, misfit), { kind: 'conflict', reason })
  }
  t.match(await room.backChannel.accept(id, { ...fitting, auth_time: 1_700_000_060 }), { kind: 'answer' })
})

t.test('a sub is refused if the store has a client of that id which this process does not know yet', async t => {
  const room = await openHandoffRoom(t)
  const { id } = await send(room)
  await room.deps.store.clients.put('person-1', { disabled: true }, undefined)

  const refused = await room.backChannel.accept(id, { sub: 'person-1' })

  t.same(refused, { kind: 'conflict', reason: 'sub is the id of a client.' })
  t.match(await room.backChannel.accept(id, { sub: 'person-2' }), { kind: 'answer' })
})

t.test('a body that is not a decision gets a description of the expected one', async t => {
  const room = await openHandoffRoom(t)
  const { id } = await send(room)
  const good = { sub: 'person-1' }
  const acceptances: readonly unknown[] = [
    undefined,
    null,
    'person-1',
    [good],
    {},
    { sub: '' },
    { sub: ' ' },
    { sub: 7 },
    { sub: 'line\nbreak' },
    { sub: 'other ' },
    { sub: ' other' },
    { sub: 'two words' },
    { sub: 'Zoë' },
    { sub: 'x'.repeat(256) },
    { ...good, username: '' },
    { ...good, username: 'Zo\u202eë' },
    { ...good, username: 'Zo\u202cë' },
    { ...good, username: '\u2067\u202aZoë\u2069\u202c' },
    { ...good, username: 'Zoë ' },
    { ...good, username: '\u00a0Zoë' },
    { ...good, username: 'Zoë\n' },
    { ...good, acr: 'two words' },
    { ...good, amr: 'pwd' },
    { ...good, amr: ['pwd', 7] },
    { ...good, auth_time: '1700000000' },
    { ...good, auth_time: 1.5 },
    { ...good, auth_time: -1 },
    { ...good, granted_scopes: 'accounts:read' },
    { ...good, granted_scopes: ['accounts:read accounts:write'] },
    // A misspelt name would grant the whole scope.
    { ...good, granted_scope: ['accounts:read'] },
    JSON.parse('{"sub":"person-1","__proto__":{"sub":"person-2"}}'),
  ]
  const rejections: readonly unknown[] = [
    undefined,
    {},
    { error: 'server_error' },
    { error: 'access_denied', description: 'a "quote"' },
    { error: 'access_denied', description: 'x'.repeat(256) },
    { error: 'access_denied', error_description: 'misspelt' },
  ]

  for (const body of acceptances) t.match(await room.backChannel.accept(id, body), { kind: 'unreadable' })
  for (const body of rejections) t.match(await room.backChannel.reject(id, body), { kind: 'unreadable' })
  t.match(await room.backChannel.accept(id, { sub: 'x'.repeat(255), username: 'Zoë Müller' }), { kind: 'answer' })
})
