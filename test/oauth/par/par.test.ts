import t from 'tap'
import { type Members, newKey, signJws, unsignedJws } from '../fapi/support/jws.ts'
import { type Fields, post } from '../support/post.ts'
import { callback, signInAndAllow } from '../support/running.ts'
import { openPushRoom, request, signingKey, without } from './support/room.ts'
import { openWindow } from './support/window.ts'

/** Pushed and signed authorization requests over real sockets, four workers sharing one store. */

const unknown = 'urn:ietf:params:oauth:request_uri:AAAAAAAAAAAAAAAAAAAAAA'

for (const kind of ['sqlite', 'redis'] as const) {
  t.test(`pushed authorization requests (${kind})`, async t => {
    const { url, redis, push, pushed, place, visit, redeem } = await openPushRoom(t, kind)

    await t.test(`line 62: the answer is 201 with a request_uri and its lifetime (${kind})`, async t => {
      for (const answer of [await push(), await post(`${url}/par`, { client_id: 'spa', ...request })]) {
        t.equal(answer.status, 201)
        t.same(Object.keys(answer.body), ['request_uri', 'expires_in'])
        t.match(answer.body.request_uri, /^urn:ietf:params:oauth:request_uri:[\w-]{22}$/)
        t.equal(answer.body.expires_in, 60)
        t.match(answer.headers.get('content-type'), /^application\/json/)
        t.equal(answer.headers.get('cache-control'), 'no-store')
        t.equal(answer.headers.get('access-control-allow-origin'), null)
      }
      t.not(await pushed(), await pushed())
    })

    await t.test(`line 62: clients authenticate as at the token endpoint (${kind})`, async t => {
      const unproven = [
        await post(`${url}/par`, request),
        await post(`${url}/par`, { client_id: 'app', ...request }),
        await post(`${url}/par`, { client_id: 'app', client_secret: 'app-secret', ...request }),
        await post(`${url}/par`, { client_id: 'nobody', ...request }, 'nobody'),
      ]
      for (const answer of unproven) {
        t.match(answer, { status: 401, body: { error: 'invalid_client' } })
        t.match(answer.headers.get('www-authenticate'), /^Basic /)
      }
      const another = await post(`${url}/par`, { client_id: 'other', ...request }, 'app')
      t.match(another, { status: 400, body: { error: 'invalid_request' } })
    })

    await t.test(`line 62: a request_uri cannot be pushed, and nothing may be sent twice (${kind})`, async t => {
      const bad = [
        await push({ ...request, request_uri: await pushed() }),
        await post(`${url}/par?state=twice`, { client_id: 'app', ...request }, 'app'),
        await post(`${url}/par`, request, 'app', { 'content-type': 'application/json' }),
      ]
      for (const answer of bad) {
        t.match(answer, { status: 400, body: { error: 'invalid_request' } })
        t.equal(answer.headers.get('cache-control'), 'no-store')
      }
    })

    await t.test(`line 62: any method but POST is 405 (${kind})`, async t => {
      for (const method of ['GET', 'PUT']) {
        const answer = await fetch(`${url}/par`, { method })
        t.equal(answer.status, 405, method)
        t.equal(answer.headers.get('allow'), 'POST')
        t.match(await answer.json(), { error: 'invalid_request' })
      }
    })

    await t.test(`line 62: a request that is too large is 413 (${kind})`, async t => {
      const answer = await push({ ...request, state: 'x'.repeat(64 * 1024) })

      t.match(answer, { status: 413, body: { error: 'invalid_request' } })
      t.equal((await push({ ...request, unknown: 'x'.repeat(60 * 1024) })).status, 201)
    })

    await t.test(`line 62: too many requests are 429 (${kind})`, async t => {
      for (let times = 0; times < 3; times++) t.equal((await push(request, 'busy')).status, 201)
      const answer = await push(request, 'busy')

      t.match(answer, { status: 429, body: { error: 'rate_limit_exceeded' } })
      t.ok(Number(answer.headers.get('retry-after')) > 0)
    })

    const refusals: Readonly<Record<string, readonly [fields: Fields, error: string, client_id?: string]>> = {
      'line 34: the method plain': [{ ...request, code_challenge_method: 'plain' }, 'invalid_request'],
      'line 35: no challenge': [without('code_challenge'), 'invalid_request'],
      'line 38: a challenge in hex': [{ ...request, code_challenge: 'a'.repeat(64) }, 'invalid_request'],
      'line 40: another redirect_uri': [{ ...request, redirect_uri: 'https://evil.example/' }, 'invalid_request'],
      'line 41: a redirect_uri that is nearly right': [{ ...request, redirect_uri: `${callback}/` }, 'invalid_request'],
      'line 49: no response_type': [without('response_type'), 'invalid_request'],
      'line 49: the response_type token': [{ ...request, response_type: 'token' }, 'unsupported_response_type'],
      'line 50: a scope in another case': [{ ...request, scope: 'Read' }, 'invalid_scope'],
      'line 66: a resource that nobody guards': [{ ...request, resource: 'https://nowhere.example' }, 'invalid_target'],
      'a client that is not registered for codes': [request, 'unauthorized_client', 'machine'],
      'a client that must sign': [request, 'invalid_request', 'signer'],
    }
    for (const [fault, [fields, error, client_id]] of Object.entries(refusals)) {
      await t.test(`what is wrong is refused when it is pushed: ${fault} (${kind})`, async t => {
        const answer = await push(fields, client_id)

        t.match(answer, { status: 400, body: { error } })
        t.match(answer.body.error_description, /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
        t.equal(answer.headers.get('cache-control'), 'no-store')
      })
    }

    await t.test(`a pushed request leads to a code, its state as it was (${kind})`, async t => {
      const state = `${'ü😀&#="<>%0d%0a'.repeat(100)}${'A'.repeat(1000)}`
      const request_uri = await pushed({ ...request, state, scope: 'write read' })

      const done = await signInAndAllow(place({ client_id: 'app', request_uri }))

      t.equal(done.origin + done.pathname, callback)
      t.match(Object.fromEntries(done.searchParams), { state, iss: url })
      const { body } = await redeem(done.searchParams.get('code') ?? '')
      t.same(new Set(String(body.scope).split(' ')), new Set(['read', 'write']))
    })

    await t.test(`line 46: without a state none is invented, and nobody else's is taken (${kind})`, async t => {
      const request_uri = await pushed(without('state'))

      const done = await signInAndAllow(place({ client_id: 'app', request_uri, state: 'outside' }))

      t.ok(done.searchParams.has('code'))
      t.notOk(done.searchParams.has('state'))
    })

    await t.test(`line 53: who asks for no page gets login_required when the browser comes (${kind})`, async t => {
      const answer = await visit({ client_id: 'app', request_uri: await pushed({ ...request, prompt: 'none' }) })

      t.match(answer.headers.get('location'), `${callback}?error=login_required`)
    })

    await t.test(
      `line 63: a request_uri is its client's alone, and must be one that was given out (${kind})`,
      async t => {
        const request_uri = await pushed()
        const bad = [
          { client_id: 'other', request_uri },
          { client_id: 'spa', request_uri },
          { client_id: 'app', request_uri: unknown },
          { client_id: 'app', request_uri: `${request_uri}A` },
          { client_id: 'app', request_uri: request_uri.slice(0, -1) },
          { client_id: 'app', request_uri: 'urn:ietf:params:oauth:request_uri:' },
          { request_uri },
          // What stands beside it was never checked, so it says nothing about where to go.
          { ...request, client_id: 'app', request_uri: unknown },
        ]
        for (const fields of bad) {
          const answer = await visit(fields)
          t.equal(answer.status, 400)
          t.equal(answer.headers.get('location'), null)
          t.equal(answer.headers.get('cache-control'), 'no-store')
          t.match(answer.headers.get('content-type'), /^text\/html/)
        }
        t.equal((await visit({ client_id: 'app', request_uri })).status, 303)
      },
    )

    await t.test(`line 63: it may be opened again until somebody has finished, and not after (${kind})`, async t => {
      const fields = { client_id: 'app', request_uri: await pushed() }
      for (let times = 0; times < 3; times++) t.equal((await visit(fields)).status, 303)

      t.ok((await signInAndAllow(place(fields))).searchParams.has('code'))

      const again = await visit(fields)
      t.equal(again.status, 400)
      t.equal(again.headers.get('location'), null)
    })

    await t.test(`line 63: who declines has finished too (${kind})`, async t => {
      const fields = { client_id: 'app', request_uri: await pushed() }
      const window = await openWindow(place(fields))

      t.equal((await window.decline())?.searchParams.get('error'), 'access_denied')

      t.equal((await visit(fields)).status, 400)
    })

    await t.test(`line 63: of five windows that finish at once one gets a code (${kind})`, async t => {
      const fields = { client_id: 'app', request_uri: await pushed() }
      const windows = await Promise.all(Array.from({ length: 5 }, () => openWindow(place(fields))))
      for (const window of windows) await window.signIn()

      const ends = await Promise.all(windows.map(window => window.allow()))

      const codes = ends.flatMap(end => end?.searchParams.get('code') ?? [])
      t.equal(codes.length, 1)
      t.equal((await redeem(codes[0] ?? '')).status, 200)
    })

    await t.test(`line 64: a client that must push is refused what it sends directly (${kind})`, async t => {
      const direct = await visit({ client_id: 'pusher', ...request })
      t.equal(direct.status, 303)
      const answer = new URL(direct.headers.get('location') ?? '')
      t.equal(answer.origin + answer.pathname, callback)
      t.match(Object.fromEntries(answer.searchParams), { error: 'invalid_request', state: 'a-state', iss: url })
      t.equal(direct.headers.get('set-cookie'), null)

      for (const redirect_uri of ['https://evil.example/', `${callback}?`, `${callback}#`]) {
        const unverified = await visit({ client_id: 'pusher', ...request, redirect_uri })
        t.equal(unverified.status, 400)
        t.equal(unverified.headers.get('location'), null)
      }
      t.equal((await visit({ client_id: 'pusher', request_uri: await pushed(request, 'pusher') })).status, 303)
    })

    const nowSec = Math.floor(Date.now() / 1000)
    const claims = { iss: 'signer', aud: url, exp: nowSec + 600, client_id: 'signer', ...request, state: 'inside' }
    const header = { alg: 'ES256', kid: signingKey.kid, typ: 'oauth-authz-req+jwt' }
    const signed = (changes: Members = {}): string => signJws(header, { ...claims, ...changes }, signingKey)

    await t.test(`line 65: of a signed request only what is inside counts, pushed or not (${kind})`, async t => {
      const outside = { state: 'outside', scope: 'write' }
      const request_uri = await pushed({ ...outside, request: signed() }, 'signer')

      for (const fields of [{ request_uri }, { ...outside, request: signed() }]) {
        const done = await signInAndAllow(place({ client_id: 'signer', ...fields }))
        t.equal(done.searchParams.get('state'), 'inside')
        t.match((await redeem(done.searchParams.get('code') ?? '', 'signer')).body, { scope: 'read' })
      }
    })

    const objects: Readonly<Record<string, string>> = {
      'it is not signed': unsignedJws({}, claims),
      'somebody else signed it': signJws(header, claims, newKey('ES256')),
      'its client_id is another': signed({ client_id: 'app' }),
      'its aud is not the issuer': signed({ aud: `${url}/par` }),
      'its exp is missing': signed({ exp: undefined }),
      'its exp has passed': signed({ exp: nowSec - 600 }),
      'it holds a request_uri': signed({ request_uri: unknown }),
    }
    for (const [fault, object] of Object.entries(objects)) {
      await t.test(`line 65: a request object is refused, pushed or not: ${fault} (${kind})`, async t => {
        t.match(await push({ request: object }, 'signer'), { status: 400, body: { error: 'invalid_request_object' } })
        const answer = await visit({ ...request, client_id: 'signer', request: object })
        t.match(answer.headers.get('location'), `${callback}?error=invalid_request_object`)
      })
    }

    await t.test(
      `line 55: no answer of the authorization endpoint is for scripts of other origins (${kind})`,
      async t => {
        const headers = { origin: 'https://app.example' }
        const answers = [
          { client_id: 'app', ...request },
          { client_id: 'app', ...without('scope') },
          { client_id: 'nobody' },
        ]
        for (const fields of answers) {
          const answer = await fetch(place(fields), { headers, redirect: 'manual' })
          t.equal(answer.headers.get('access-control-allow-origin'), null)
        }
      },
    )

    if (redis) {
      await t.test('line 78: while Redis is away nothing is pushed, and no pushed request is guessed at', async t => {
        const request_uri = await pushed()
        await redis.kill()

        const answer = await push()
        t.match(answer, { status: 503, body: { error: 'temporarily_unavailable' } })
        t.equal(answer.headers.get('retry-after'), '1')
        const page = await visit({ client_id: 'app', request_uri })
        t.equal(page.status, 503)
        t.equal(page.headers.get('location'), null)
      })
    }
  })
}
