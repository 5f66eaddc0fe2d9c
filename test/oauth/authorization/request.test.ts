import t, { type Test } from 'tap'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import {
  answerOf,
  ask,
  callback,
  demoClient,
  get,
  header,
  locationOf,
  openBrowserRoom,
  type Parameters,
} from '../support/browser-flow.ts'

const issuer = 'http://localhost:8080'

/** Sends each changed request and checks the error and the parameters that every error redirect has. */
const refusedByRedirect = async (
  t: Test,
  error: string,
  faults: readonly Parameters[],
  clients: readonly ClientRegistration[] = [demoClient],
): Promise<void> => {
  const room = await openBrowserRoom(t, clients)
  for (const changes of faults) {
    const reply = await room.authorize(get(ask(changes)))

    t.equal(reply.status, 303, JSON.stringify(changes))
    t.equal(locationOf(reply).origin + locationOf(reply).pathname, callback)
    t.match(answerOf(reply), { error, state: 'a-state', iss: issuer })
    t.match(answerOf(reply).error_description, /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
    t.equal(header(reply, 'cache-control'), 'no-store')
    t.notOk(reply.headers['set-cookie'])
  }
}

t.test('a challenge with another method than S256 is refused (RFC 7636 section 4.4.1; checklist 34)', t =>
  refusedByRedirect(t, 'invalid_request', [
    { code_challenge_method: 'plain' },
    { code_challenge_method: undefined },
    { code_challenge_method: 's256' },
  ]),
)

t.test('a request without a challenge is refused (RFC 9700 section 2.1.1; checklist 35)', t =>
  refusedByRedirect(t, 'invalid_request', [
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge: undefined },
    { code_challenge: '' },
  ]),
)

t.test('a challenge that no S256 verifier can have is refused at once (RFC 7636 section 4.2; checklist 38)', t =>
  refusedByRedirect(t, 'invalid_request', [
    { code_challenge: 'a'.repeat(64) },
    { code_challenge: `${'A'.repeat(42)}=` },
    { code_challenge: 'A'.repeat(42) },
  ]),
)

t.test('a request without response_type is an invalid_request (RFC 6749 section 4.1.2.1; checklist 49)', t =>
  refusedByRedirect(t, 'invalid_request', [{ response_type: undefined }, { response_type: '' }]),
)

t.test('a response_type other than code is unsupported (RFC 6749 section 4.1.2.1; checklist 49)', t =>
  refusedByRedirect(t, 'unsupported_response_type', [
    { response_type: 'token' },
    { response_type: 'id_token' },
    { response_type: 'code token' },
    { response_type: 'Code' },
  ]),
)

t.test('a scope that is unknown, or in another case, is an invalid_scope (RFC 6749 section 3.3; checklist 50)', t =>
  refusedByRedirect(t, 'invalid_scope', [{ scope: 'accounts:read nope' }, { scope: 'Accounts:read' }, { scope: ' ' }]),
)

t.test(
  'prompt=none gets login_required, because a page is needed (OpenID Connect Core section 3.1.2.6; checklist 53)',
  t => refusedByRedirect(t, 'login_required', [{ prompt: 'none' }]),
)

t.test('an unknown resource is an invalid_target (RFC 8707 section 2; checklist 66)', t =>
  refusedByRedirect(t, 'invalid_target', [
    { resource: 'https://api.example/#part' },
    { resource: 'https://api.example/' },
    { resource: 'https://api.example/Accounts' },
    { resource: 'accounts' },
  ]),
)

t.test('too many resources are an invalid_target (RFC 8707 section 2; checklist 66)', async t => {
  const room = await openBrowserRoom(t)
  const named = (times: number): string => `${ask()}${'&resource=https%3A%2F%2Fapi.example'.repeat(times)}`

  t.match(header(await room.authorize(get(named(16))), 'location'), /^\/interaction\//)
  t.equal(answerOf(await room.authorize(get(named(17)))).error, 'invalid_target')
})

t.test('the parameters that are kept until the user has answered are bounded', async t => {
  const tooLong = [{ login_hint: 'x'.repeat(513) }, { acr_values: 'x'.repeat(1025) }, { ui_locales: 'x'.repeat(257) }]
  await refusedByRedirect(t, 'invalid_request', tooLong)
  const room = await openBrowserRoom(t)

  const longest = { login_hint: 'x'.repeat(512), acr_values: 'x'.repeat(1024), ui_locales: 'x'.repeat(256) }

  t.match(header(await room.authorize(get(ask(longest))), 'location'), /^\/interaction\//)
})

t.test('the kept parameters are bounded in bytes, each and in sum', async t => {
  await refusedByRedirect(t, 'invalid_request', [
    { login_hint: `${'ü'.repeat(256)}x` },
    { prompt: 'login '.repeat(22) },
    { scope: 'accounts:read '.repeat(293) },
  ])
  const room = await openBrowserRoom(t)
  const inSum = await room.authorize(get(ask({ state: 'A'.repeat(4096), scope: 'accounts:read '.repeat(292) })))
  t.match(answerOf(inSum).error_description, /together are longer than 8192 bytes/)
  for (const fitting of [
    { login_hint: 'ü'.repeat(256) },
    { prompt: 'login '.repeat(21) },
    { scope: 'accounts:read '.repeat(292) },
    { state: 'A'.repeat(3500), scope: 'accounts:read '.repeat(292) },
    { state: '漢'.repeat(1000) },
  ]) {
    const begun = await room.authorize(get(ask(fitting)))
    t.match(header(begun, 'location'), /^\/interaction\//, JSON.stringify(fitting).slice(0, 30))
  }
})

t.test('one address cannot start more requests than its limit, and a refused request does not count', async t => {
  const room = await openBrowserRoom(t)
  const from = (address: string, changes = {}) => room.authorize({ ...get(ask(changes)), address })
  for (let times = 0; times < 300; times++) await from('192.0.2.1')

  await t.rejects(async () => from('192.0.2.1'), { code: 'rate_limit_exceeded', headers: { 'retry-after': '60' } })
  t.match(answerOf(await from('192.0.2.1', { scope: 'nope' })), { error: 'invalid_scope' })
  t.match(header(await from('192.0.2.2'), 'location'), /^\/interaction\//)
  for (let times = 0; times < 300; times++) await from('192.0.2.2', { scope: 'nope' })
  t.match(header(await from('192.0.2.2'), 'location'), /^\/interaction\//)
})

t.test('a dpop_jkt that is not a thumbprint is refused', async t => {
  await refusedByRedirect(t, 'invalid_request', [{ dpop_jkt: 'A'.repeat(42) }, { dpop_jkt: `${'A'.repeat(42)}=` }])
  const room = await openBrowserRoom(t)

  t.match(header(await room.authorize(get(ask({ dpop_jkt: 'A'.repeat(43) }))), 'location'), /^\/interaction\//)
})

t.test('an unsupported parameter is refused with its own error', async t => {
  const machine = { ...demoClient, client_id: 'machine', grant_types: ['client_credentials'] as const }

  await refusedByRedirect(t, 'invalid_request', [{ response_mode: 'fragment' }])
  await refusedByRedirect(t, 'request_uri_not_supported', [
    { request_uri: 'urn:example:1' },
    { request_uri: 'https://app.example/request.jwt' },
  ])
  await refusedByRedirect(t, 'unauthorized_client', [{ client_id: 'machine' }], [machine])
})

t.test(
  'a client that is exempted by name may omit PKCE, but an invalid challenge is refused (RFC 9700 section 2.1.1; checklist 35)',
  async t => {
    const exempt = { ...demoClient, pkce: 'optional' as const }
    const room = await openBrowserRoom(t, [exempt])

    const without = await room.authorize(get(ask({ code_challenge: undefined, code_challenge_method: undefined })))
    const badly = await room.authorize(get(ask({ code_challenge_method: 'plain' })))

    t.match(header(without, 'location'), /^\/interaction\//)
    t.equal(answerOf(badly).error, 'invalid_request')
  },
)
