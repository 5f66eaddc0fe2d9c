import t from 'tap'
import type { Fields } from '../support/post.ts'
import { callback, signInAndAllow } from '../support/running.ts'
import { request, startPushGateway, without } from './support/push-gateway.ts'

/** What a pushed request is checked for, and where it leads; four workers sharing one store. */

for (const kind of ['sqlite', 'redis'] as const) {
  t.test(`pushed authorization requests (${kind})`, async t => {
    const { url, redis, push, pushed, place, visit, redeem } = await startPushGateway(t, kind)

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

      t.ok(answer.headers.get('location')?.startsWith(`${callback}?error=login_required&`))
    })

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
