import { randomUUID } from 'node:crypto'
import t from 'tap'
import { Agent, fetch as fetchWith } from 'undici'
import { newKey } from '../oauth/fapi/support/jws.ts'
import { post } from '../oauth/support/post.ts'
import { callback } from '../oauth/support/running.ts'
import { createCertificates } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { fetchFreshMetrics } from '../support/fresh-metrics.ts'
import { RawConnection } from '../support/raw-client.ts'
import { startRedis } from '../support/redis.ts'
import { begin, redirectOf, startBank, verifier } from './support/bank.ts'
import { loginJwt } from './support/bank-login.ts'

const redis = await startRedis(t)

for (const store of ['sqlite', 'redis']) {
  t.test(`a hand-off over ${store} and four workers`, async t => {
    const bank = await startBank(t, store === 'redis' ? { store: redis.url } : {})
    const { gateway, internal, caller, key, ends } = bank
    const { id } = await begin(gateway)

    await t.test('a decision of the login becomes a code, and tokens with the user and the way of sign-in', async t => {
      const browser = await begin(gateway, { acr_values: 'urn:sca' })
      const described = await caller.call(browser.id)
      const accepted = await caller.call(`${browser.id}/accept`, {
        sub: 'customer-17',
        username: 'Zoë',
        acr: 'urn:sca',
        auth_time: 1_700_000_000,
      })
      const back = await browser.follow(await redirectOf(accepted))
      const location = new URL(back.headers.get('location') ?? '')
      const fields = { grant_type: 'authorization_code', redirect_uri: callback, code_verifier: verifier }
      const code = location.searchParams.get('code') ?? ''
      const tokens = await post(`${gateway.url}/token`, { ...fields, code }, 'app')
      const token = String(tokens.body.access_token)
      const introspected = await post(`${gateway.url}/introspect`, { token }, 'server')
      const refresh_token = String(tokens.body.refresh_token)
      const refreshed = await post(`${gateway.url}/token`, { grant_type: 'refresh_token', refresh_token }, 'app')

      t.equal(described.status, 200)
      t.match(await described.json(), { client_id: 'app', scope: ['read'], acr_values: ['urn:sca'] })
      t.equal(accepted.headers.get('cache-control'), 'no-store')
      t.equal(back.status, 303)
      t.equal(refreshed.status, 200, 'the configuration knows no such user, and need not')
      t.match(introspected.body, { active: true, sub: 'customer-17', acr: 'urn:sca', auth_time: 1_700_000_000 })
    })
    await t.test('twenty browsers resume at once over all workers, and all see one code (checklist 59)', async t => {
      const browser = await begin(gateway)
      const resume = await redirectOf(await caller.call(`${browser.id}/accept`, { sub: 'customer-17' }))

      const answers = await Promise.all(Array.from({ length: 20 }, () => browser.follow(resume)))

      t.same([...new Set(answers.map(answer => answer.status))], [303])
      t.equal(new Set(answers.map(answer => answer.headers.get('location'))).size, 1)
    })
    await t.test(
      'calls that say the same at once over all workers get the same bytes, and others a conflict',
      async t => {
        const browser = await begin(gateway)
        const decisions = Array.from({ length: 12 }, (_, i) => ({ sub: `customer-${i % 2}` }))

        const answers = await Promise.all(decisions.map(body => caller.call(`${browser.id}/accept`, body)))
        const texts = await Promise.all(answers.map(answer => answer.text()))

        const granted = texts.filter((_, i) => answers[i]?.status === 200)
        t.equal(granted.length, 6)
        t.equal(new Set(granted).size, 1)
        t.equal(answers.filter(({ status }) => status === 409).length, 6)
      },
    )
    await t.test('a stolen resume URL opens nothing in another browser', async t => {
      const [browser, thief] = [await begin(gateway), await begin(gateway)]
      const resume = await redirectOf(await caller.call(`${browser.id}/accept`, { sub: 'customer-17' }))

      t.equal((await thief.follow(resume)).status, 403)
      t.equal((await browser.follow(resume, '')).status, 403)
      t.equal((await browser.follow(resume)).status, 303)
    })
    await t.test('a JWT is good for one call, whichever workers it is sent to', async t => {
      const request = { headers: { authorization: `Bearer ${loginJwt(ends, key)}`, connection: 'close' } }

      const answers = await Promise.all(Array.from({ length: 8 }, () => caller.call(id, undefined, request)))

      t.same(answers.map(({ status }) => status).toSorted(), [200, ...Array(7).fill(401)])
      const refused = answers.find(({ status }) => status === 401)
      t.match(refused?.headers.get('www-authenticate'), /error_description="jti was used before/)
    })
    await t.test('a login application with a missing or weak proof learns nothing', async t => {
      const nowSec = Math.floor(Date.now() / 1000)
      const bad: readonly (readonly [string, string | undefined, RegExp?])[] = [
        ['no proof', undefined],
        ['basic', 'Basic YXBwOmFwcC1zZWNyZXQ=', /^Authorization must be one line/],
        ['no JWT', 'Bearer x', /not a signed JWT/],
        ['another key', `Bearer ${loginJwt(ends, newKey('ES256'))}`, /no key of the configuration/],
        ['another audience', `Bearer ${loginJwt(ends, key, { aud: `${gateway.url}/` })}`, /^aud /],
        ['a list of audiences', `Bearer ${loginJwt(ends, key, { aud: [gateway.url] })}`, /^aud /],
        ['expired', `Bearer ${loginJwt(ends, key, { exp: nowSec - 60 })}`, /^exp .*passed/],
        ['good for too long', `Bearer ${loginJwt(ends, key, { exp: nowSec + 400 })}`, /^exp .*away/],
        ['no exp', `Bearer ${loginJwt(ends, key, { exp: undefined })}`, /^exp /],
        ['from tomorrow', `Bearer ${loginJwt(ends, key, { iat: nowSec + 90, exp: nowSec + 120 })}`, /^iat .*future/],
        ['made long ago', `Bearer ${loginJwt(ends, key, { iat: nowSec - 320 })}`, /^iat .*five minutes ago/],
        ['no iat', `Bearer ${loginJwt(ends, key, { iat: undefined })}`, /^iat /],
        ['no jti', `Bearer ${loginJwt(ends, key, { jti: undefined })}`, /^jti .*missing/],
        ['alg none', `Bearer ${loginJwt(ends, key, {}, { alg: 'none' })}`, /^alg /],
        ['another alg', `Bearer ${loginJwt(ends, key, {}, { alg: 'RS256' })}`, /^alg /],
        ['an unknown crit', `Bearer ${loginJwt(ends, key, {}, { crit: ['b64'] })}`, /crit/],
        ['of another kind', `Bearer ${loginJwt(ends, key, {}, { typ: 'at+jwt' })}`, /^typ /],
        ['of any kind', `Bearer ${loginJwt(ends, key, {}, { typ: 'JWT' })}`, /^typ /],
        ['of no kind', `Bearer ${loginJwt(ends, key, {}, { typ: undefined })}`, /^typ /],
        ['of a client', `Bearer ${loginJwt(ends, key, { iss: 'app' })}`, /^iss /],
      ]
      for (const [name, authorization, reason] of bad) {
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
        const answer = await fetch(`${internal}/internal/interactions/${id}`, { headers })
        t.equal(answer.status, 401, name)
        t.match(answer.headers.get('www-authenticate'), /^Bearer realm="internal"/)
        const code = reason ? 'CREDENTIAL_INVALID' : 'CREDENTIAL_MISSING'
        const problem = (await answer.json()) as { code: string; reason?: string }
        t.match(problem, { code, ...(reason && { reason }) }, name)
        if (reason) t.ok(answer.headers.get('www-authenticate')?.includes(`error_description="${problem.reason}"`))
      }
      const authorization = `bEARER ${loginJwt(ends, key, { exp: nowSec + 299, iat: nowSec - 290 })}`
      t.equal((await fetch(`${internal}/internal/interactions/${id}`, { headers: { authorization } })).status, 200)
    })
    await t.test('every other fault has its status, as a problem document', async t => {
      const faults: readonly (readonly [number, string, string, unknown?, RequestInit?])[] = [
        [404, 'NOT_FOUND', `${id}/decide`, {}],
        [404, 'NOT_FOUND', 'x'],
        [404, 'INTERACTION_NOT_FOUND', 'A'.repeat(22)],
        [405, 'METHOD_NOT_ALLOWED', id, {}],
        [405, 'METHOD_NOT_ALLOWED', `${id}/accept`],
        [415, 'MEDIA_TYPE_UNSUPPORTED', `${id}/accept`, {}, { headers: { 'content-type': 'text/plain' } }],
        [400, 'BODY_INVALID', `${id}/accept`, {}],
        [400, 'BODY_INVALID', `${id}/accept`, undefined, { method: 'POST', body: '{' }],
        [400, 'BODY_INVALID', `${id}/reject`, { error: 'no' }],
        [409, 'DECISION_CONFLICT', `${id}/accept`, { sub: 'app' }],
        [409, 'DECISION_CONFLICT', `${id}/accept`, { sub: 'customer-17', granted_scopes: ['write'] }],
        [413, 'BODY_TOO_LARGE', `${id}/accept`, { sub: 'x'.repeat(70_000) }],
      ]
      for (const [status, code, path, body, request] of faults) {
        const answer = await caller.call(path, body, request)
        t.equal(answer.status, status, `${code} ${path}`)
        t.equal(answer.headers.get('content-type'), 'application/problem+json')
        t.ok(answer.headers.get('x-request-id'))
        t.match(await answer.json(), { status, code })
      }
      t.equal((await caller.call(`${id}/accept`)).headers.get('allow'), 'POST')
    })
    await t.test('nothing of it is on the public port, and nothing public on this one', async t => {
      const authorization = `Bearer ${loginJwt(ends, key)}`
      const publicly = await fetch(`${gateway.url}/internal/interactions/${id}`, { headers: { authorization } })

      t.equal(publicly.status, 404)
      for (const path of ['/authorize', '/.well-known/jwks.json', '/livez', '/metrics', `/interaction/${id}`]) {
        t.equal((await fetch(internal + path, { redirect: 'manual' })).status, 404, path)
      }
    })
    await t.test('sign-ins are counted by how they end', async t => {
      const counted = async (outcome: string): Promise<number> => {
        const text = await (await fetchFreshMetrics(gateway.admin)).text()
        return Number(new RegExp(`sidegate_interactions_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
      }
      const [accepted, rejected] = [await counted('accepted'), await counted('rejected')]
      const browser = await begin(gateway)
      await browser.follow(await redirectOf(await caller.call(`${browser.id}/reject`, { error: 'access_denied' })))

      await eventually(async () => (await counted('rejected')) === rejected + 1)
      t.equal(await counted('accepted'), accepted)
      t.ok((await counted('started')) > accepted)
    })
    await t.test('a worker that dies takes nothing of the private listener with it', async t => {
      process.kill(gateway.workerPids()[0] ?? 0, 'SIGKILL')
      await eventually(() => gateway.output.some(line => line.includes('"event":"worker_died"')))

      const request = { headers: { connection: 'close' } }
      const meanwhile = await Promise.all(Array.from({ length: 20 }, () => caller.call(id, undefined, request)))
      await eventually(() => gateway.workerPids().length === 4)
      const later = await Promise.all(Array.from({ length: 20 }, () => caller.call(id, undefined, request)))

      t.same([...new Set([...meanwhile, ...later].map(({ status }) => status))], [200])
    })
    await t.test('no secret of it stands in a log line', async t => {
      const browser = await begin(gateway)
      const jwt = loginJwt(ends, key)
      const request = { headers: { authorization: `Bearer ${jwt}` } }
      const accepted = await caller.call(`${browser.id}/accept`, { sub: 'customer-of-it' }, request)
      const resume = await redirectOf(accepted)
      const back = await browser.follow(resume)
      const line = (status: number, part: string): boolean =>
        gateway.output.some(text => text.includes(part) && text.includes(`"status":${status}`))
      await eventually(() => line(303, `/interaction/${browser.id}/resume`))
      await eventually(() => line(200, `/internal/interactions/${browser.id}/accept`))

      const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
      const token = new URL(resume).searchParams.get('token') ?? ''
      t.ok(code && token)
      for (const secret of [code, token, jwt]) {
        t.notOk(gateway.output.some(text => text.includes(secret)))
      }
      const ofPerson = gateway.output.filter(text => text.includes('customer-of-it'))
      t.ok(
        ofPerson.every(text => text.includes('"event":"audit"')),
        'only the audit log has the user',
      )
    })
  })
}

t.test('a certificate of the CA of the internal listener replaces the JWT', async t => {
  const certificates = createCertificates(t)
  const { ca, server, client, selfSigned } = certificates
  const port = await findFreePort()
  const tls = { cert_file: server.certFile, key_file: server.keyFile, clientCa_file: ca.certFile }
  const key = newKey('EdDSA')
  const ownRedis = await startRedis(t)
  const { gateway, ends } = await startBank(t, {
    workers: 1,
    store: ownRedis.url,
    internal: { listen: `127.0.0.1:${port}`, tls, jwks: { keys: [key.publicJwk] } },
  })
  const { id } = await begin(gateway)
  const call = async (certificate?: { cert: string; key: string }, headers: Record<string, string> = {}) => {
    const dispatcher = new Agent({ connect: { ca: ca.cert, ...certificate } })
    t.teardown(() => dispatcher.close())
    const url = `https://localhost:${port}/internal/interactions/${id}`
    return (await fetchWith(url, { dispatcher, headers: { connection: 'close', ...headers } })).status
  }

  t.equal(await call(client), 200)
  t.equal(await call(selfSigned), 401)
  t.equal(await call(certificates.issue('old', { usage: 'clientAuth', days: -1 })), 401)
  t.equal(await call(), 401)
  t.equal(await call(undefined, { authorization: `Bearer ${loginJwt(ends, key)}` }), 200)
  await t.rejects(fetch(`http://127.0.0.1:${port}/internal/interactions/${id}`), 'plain HTTP is not spoken')
  await ownRedis.kill()
  t.equal(await call(client), 503)
  t.equal(
    await call(undefined, { authorization: `Bearer ${loginJwt(ends, key)}` }),
    503,
    'the response does not show whether it is new',
  )
})

t.test('a drain finishes what the login has begun to say, and closes the private listener', async t => {
  const { gateway, internal, key, ends } = await startBank(t, { workers: 1, shutdown: { delay: '0s', timeout: '10s' } })
  const { id } = await begin(gateway)
  const authorization = `Bearer ${loginJwt(ends, key, { jti: randomUUID() })}`
  const body = '{"sub":"customer-17"}'
  const fields = [
    'Host: x',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    'Expect: 100-continue',
  ]
  const head = `POST /internal/interactions/${id}/accept HTTP/1.1\r\n${fields.join('\r\n')}`
  const login = new RawConnection(internal).send(`${head}\r\nContent-Length: ${body.length}\r\n\r\n`)
  t.equal((await login.answer()).status, 100, 'the upstream accepts the request')

  gateway.kill('SIGTERM')
  await eventually(() => gateway.output.some(line => line.includes('"event":"draining"')))
  login.send(body)

  t.equal((await login.answer()).status, 200)
  t.equal(await gateway.exited, 0)
  await t.rejects(fetch(internal))
})
