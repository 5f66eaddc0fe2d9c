import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import t from 'tap'
import { ask } from '../../support/raw-client.ts'
import { fieldOf, startStrictUpstream } from '../../support/recording-upstream.ts'
import { client, clientSecret, fetchToken, oauth, startGateway } from '../support/running.ts'

const typ = 'sidegate-assertion+jwt'
const jwks = { name: 'Keys', operations: [{ method: 'GET', path: '/jwks', serves: 'jwks' }] }

const grouping = (name: string, changes: object = {}, operation: object = {}) => ({
  name,
  basePath: `/${name}`,
  upstream: 'up',
  operations: [{ method: 'GET', path: '/**', ...operation }],
  ...changes,
})

t.test('the identity of the caller, signed for the upstream', async t => {
  const upstream = await startStrictUpstream(t)
  const gateway = await startGateway(
    t,
    { up: upstream.url },
    {
      issuer: 'http://id.test',
      groupings: [
        oauth,
        jwks,
        grouping('plain'),
        grouping('signed', { identity: 'assertion' }),
        grouping('both', { identity: 'both', resource: 'https://api.test/both' }),
        grouping('query', { identity: 'both' }, { credentials: 'query' }),
        grouping('open', { identity: 'both' }, { credentials: 'none' }),
      ],
      clients: [client('app'), client('other')],
    },
  )
  const keys = createRemoteJWKSet(new URL(`${gateway.url}/jwks`))
  const call = (target: string, ...fields: readonly string[]) =>
    ask(gateway.url, [`GET ${target} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n'))
  const last = (name: string) => fieldOf(upstream.requests.at(-1), name)
  const assertionOf = async (target: string, token: string, ...fields: readonly string[]): Promise<string> => {
    const answer = await call(target, `Authorization: Bearer ${token}`, ...fields)
    if (answer.status !== 200) throw new Error(`${target} answered ${answer.status}`)
    return last('x-sidegate-assertion') ?? ''
  }
  const verify = async (assertion: string, audience: string): Promise<JWTPayload> =>
    (await jwtVerify(assertion, keys, { typ, issuer: 'http://id.test', audience, algorithms: ['ES256'] })).payload
  const token = await fetchToken(gateway.url)

  await t.test('an upstream verifies it with the key set, and reads the caller and the audience', async t => {
    const claims = await verify(await assertionOf('/signed/a', token), 'http://id.test/signed')

    t.match(claims, { sub: 'app', client_id: 'app', scope: 'read write', grouping: 'signed', jti: /^[\w-]{22}$/ })
    t.equal((claims.exp ?? 0) - (claims.iat ?? 0), 60)
    t.same(Object.keys(claims).sort(), ['aud', 'client_id', 'exp', 'grouping', 'iat', 'iss', 'jti', 'scope', 'sub'])
  })

  await t.test('it takes the place of the headers, or stands beside them, or is not there', async t => {
    await assertionOf('/signed/a', token)
    t.equal(last('x-sidegate-client-id'), undefined)
    t.equal(last('x-sidegate-subject'), undefined)
    t.equal(last('x-sidegate-scope'), undefined)

    t.match(await verify(await assertionOf('/both/a', token), 'https://api.test/both'), { grouping: 'both' })
    t.equal(last('x-sidegate-client-id'), 'app')

    t.equal(await assertionOf('/plain/a', token), '', 'off unless the grouping asks for it')
    t.equal(last('x-sidegate-client-id'), 'app')
  })

  await t.test('the assertion of one grouping is not valid for another', async t => {
    await t.rejects(
      verify(await assertionOf('/signed/a', token), 'https://api.test/both'),
      errors.JWTClaimValidationFailed,
    )
  })

  await t.test('a client that has shown its secret is vouched for as well', async t => {
    await call(`/query/a?client_id=app&client_secret=${clientSecret}`)
    const claims = await verify(last('x-sidegate-assertion') ?? '', 'http://id.test/query')

    t.match(claims, { sub: 'app', client_id: 'app', scope: undefined })
  })

  await t.test('there is no assertion without an authenticated caller', async t => {
    await call('/open/a')

    t.equal(last('x-sidegate-assertion'), undefined)
    t.equal(last('x-sidegate-grouping'), 'open')
  })

  await t.test('a caller’s own never arrives, in whatever spelling', async t => {
    const real = await assertionOf('/signed/a', token)
    for (const name of [
      'X-Sidegate-Assertion',
      'x-sidegate-assertion',
      'X_Sidegate_Assertion',
      'X-Sidegate.Assertion',
    ]) {
      await call('/open/a', `${name}: ${real}`)
      t.notOk(
        upstream.requests.at(-1)?.fields.some(([, value]) => value === real),
        name,
      )

      const own = await assertionOf('/signed/a', token, `${name}: forged`, 'Connection: X-Sidegate-Assertion')
      t.match(decodeJwt(own), { client_id: 'app' }, name)
    }
  })

  await t.test('an assertion is not an access token and the reverse: their types differ', async t => {
    const assertion = await assertionOf('/signed/a', token)

    t.equal(decodeProtectedHeader(assertion).typ, typ)
    const asToken = await call('/plain/a', `Authorization: Bearer ${assertion}`)
    t.equal(asToken.status, 401)
    const body = new URLSearchParams({ token: assertion })
    const headers = { authorization: `Basic ${btoa(`app:${clientSecret}`)}` }
    const introspected = await fetch(`${gateway.url}/introspect`, { method: 'POST', headers, body })
    t.same(await introspected.json(), { active: false })
    await t.rejects(jwtVerify(token, keys, { typ }), errors.JWTClaimValidationFailed)
  })

  await t.test('the same token brings the same assertion, another token another', async t => {
    const [first, again] = [await assertionOf('/signed/a', token), await assertionOf('/signed/b', token)]
    const second = await assertionOf('/signed/a', await fetchToken(gateway.url))

    t.equal(again, first)
    t.not(decodeJwt(second).jti, decodeJwt(first).jti)
    t.not(
      decodeJwt(await assertionOf('/both/a', token)).jti,
      decodeJwt(first).jti,
      'nor does another grouping share it',
    )
  })
})
