import { decodeJwt } from 'jose'
import t from 'tap'
import { createIdentityAssertions, type SignIdentity } from '../../../src/oauth/tokens/identity-assertion.ts'
import { verifyJwt } from '../../../src/oauth/tokens/jwt.ts'
import type { AccessTokenRecord } from '../../../src/stores/ports/tokens.ts'
import { client, issuer, startServer } from '../support/authorization-server.ts'

const { deps, clock } = await startServer(t)
const resource = 'https://api.example/accounts'

const tokenOf = (changes: Partial<AccessTokenRecord> = {}): AccessTokenRecord => {
  const iat = Math.floor(clock.nowMs() / 1000)
  return { jti: 'j', client_id: 'shop', sub: 'alice', scope: 'read', aud: issuer, iat, exp: iat + 600, ...changes }
}

const lifetimeOf = (jwt: string): number => (decodeJwt(jwt).exp ?? 0) - (decodeJwt(jwt).iat ?? 0)

const fresh = (): SignIdentity => createIdentityAssertions(deps)

t.test('an identity assertion names the client and the user, and is signed by a published key', async t => {
  const jwt = fresh()(tokenOf(), 'Accounts', resource)

  t.match(verifyJwt(jwt, 'sidegate-assertion+jwt', deps.keys), {
    iss: issuer,
    aud: resource,
    sub: 'alice',
    client_id: 'shop',
    scope: 'read',
    grouping: 'Accounts',
    iat: Math.floor(clock.nowMs() / 1000),
    exp: Math.floor(clock.nowMs() / 1000) + 60,
    jti: String,
  })
  t.equal(verifyJwt(jwt, 'at+jwt', deps.keys), undefined)
  t.equal(verifyJwt(jwt, 'token-introspection+jwt', deps.keys), undefined)
})

t.test('a token without scope, and a client without scope, yield no scope', async t => {
  t.notOk('scope' in decodeJwt(fresh()(tokenOf({ scope: '' }), 'Accounts', resource)))
  const claims = decodeJwt(fresh()(client('shop'), 'Accounts', resource))

  t.match(claims, { sub: 'shop', client_id: 'shop' })
  t.notOk('scope' in claims)
})

t.test('an assertion is reused until half of its life, and then replaced', async t => {
  const vouch = fresh()
  const token = tokenOf()
  const first = vouch(token, 'Accounts', resource)

  clock.advanceSec(29.999)
  t.equal(vouch(token, 'Accounts', resource), first)
  clock.advanceSec(0.001)
  const second = vouch(token, 'Accounts', resource)
  t.not(second, first)
  t.equal(lifetimeOf(second), 60)
  t.equal(vouch(token, 'Accounts', resource), second)
  clock.setBackSec(600)
  clock.advanceSec(30)
  t.not(vouch(token, 'Accounts', resource), second, 'also after the clock was set back')
})

t.test('an assertion does not outlive its token', async t => {
  const vouch = fresh()
  const token = tokenOf({ exp: Math.floor(clock.nowMs() / 1000) + 10 })
  const first = vouch(token, 'Accounts', resource)

  t.equal(lifetimeOf(first), 10)
  clock.advanceSec(5)
  const second = vouch(token, 'Accounts', resource)
  t.not(second, first)
  t.equal(decodeJwt(second).exp, token.exp)
})

t.test('two tokens have separate assertions, though their claims are the same', async t => {
  const vouch = fresh()

  t.not(decodeJwt(vouch(tokenOf(), 'Accounts', resource)).jti, decodeJwt(vouch(tokenOf(), 'Accounts', resource)).jti)
})
