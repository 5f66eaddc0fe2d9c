import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createLoginAppAuthentication } from '../../../src/oauth/interaction/authenticate-login-app.ts'
import { type Members, newKey, signJws } from '../fapi/support/jws.ts'
import { openHandoffRoom } from './support.ts'

t.test('an assertion of a client with the same key as the login application is refused', async t => {
  const room = await openHandoffRoom(t)
  const { login, issuer } = room.deps.options
  const url = login.mode === 'handoff' ? login.url : ''
  const key = newKey('ES256')
  const proof = createLoginAppAuthentication(room.deps, { keys: [{ ...key.publicJwk }] })
  const nowSec = Math.floor(room.deps.clock.nowMs() / 1000)
  const reasonOf = (header: Members, claims: Members) => {
    const good = { iss: url, aud: issuer, iat: nowSec, exp: nowSec + 60, jti: randomUUID() }
    return proof(signJws({ alg: key.alg, kid: key.kid, ...header }, { ...good, ...claims }, key))
  }
  const typ = 'sidegate-login+jwt'

  t.equal(await reasonOf({ typ }, {}), undefined)
  t.equal(await reasonOf({ typ: 'application/Sidegate-Login+JWT' }, {}), undefined, 'RFC 7515 section 4.1.9')
  for (const other of [undefined, 'JWT', 'client-authentication+jwt', 'oauth-authz-req+jwt']) {
    t.equal(await reasonOf({ typ: other }, { iss: 'app', sub: 'app' }), `typ is not ${typ}`, String(other))
    t.equal(await reasonOf({ typ: other }, {}), `typ is not ${typ}`, String(other))
  }
  for (const iss of [undefined, 'app', issuer, `${url}/`]) {
    t.equal(await reasonOf({ typ }, { iss }), 'iss is not login.url of the configuration', String(iss))
  }
  t.equal(await reasonOf({ typ }, { aud: [issuer] }), 'aud is not the issuer as one string')
})
