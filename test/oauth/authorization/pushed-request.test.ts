import t from 'tap'
import type { Fields } from '../support/post.ts'
import { callback, signInAndAllow } from '../support/running.ts'
import { request, startPushGateway, without } from './support/push-gateway.ts'

/** The checks of a pushed request, and the authorization that follows it, with four workers over one store. */

for (const kind of ['sqlite', 'redis'] as const) {
  t.test(`pushed authorization requests (${kind})`, async t => {
    const { url, redis, push, pushed, place, visit, redeem } = await startPushGateway(t, kind)

    const refusals: Readonly<Record<string, readonly [fields: Fields, error: string, client_id?: string]>> = {
      'the method plain (RFC 7636 section 4.4.1; checklist 34)': [
        { ...request, code_challenge_method: 'plain' },
        'invalid_request',
      ],
      'no challenge (RFC 9700 section 2.1.1; checklist 35)': [without('code_challenge'), 'invalid_request'],
      'a challenge in hex (RFC 7636 section 4.2; checklist 38)': [
        { ...request, code_challenge: 'a'.repeat(64) },
        'invalid_request',
      ],
      'another redirect_uri (RFC 6749 section 4.1.2.1; checklist 40)': [
        { ...request, redirect_uri: 'https://evil.example/' },
        'invalid_request',
      ],
      'a redirect_uri that is nearly right (RFC 9700 section 2.1; checklist 41)': [
        { ...request, redirect_uri: `${callback}/` },
        'invalid_request',
      ],
      'no response_type (RFC 6749 section 4.1.2.1; checklist 49)': [without('response_type'), 'invalid_request'],
      'the response_type token (RFC 6749 section 4.1.2.1; checklist 49)': [
        { ...request, response_type: 'token' },
        'unsupported_response_type',
      ],
      'a scope in another case (RFC 6749 section 3.3; checklist 50)': [{ ...request, scope: 'Read' }, 'invalid_scope'],
      'an unknown resource (RFC 8707 section 2; checklist 66)': [
        { ...request, resource: 'https://nowhere.example' },
        'invalid_target',
      ],
      'a client that is not registered for codes': [request, 'unauthorized_client', 'machine'],
      'a client that must sign': [request, 'invalid_request', 'signer'],
    }
    for (const [fault, [fields, error, client_id]] of Object.entries(refusals)) {
      await t.test(`a request is refused when it is pushed (${kind}): ${fault}`, async t => {
        const answer = await push(fields, client_id)

        t.match(answer, { status: 400, body: { error } })
        t.match(answer.body.error_description, /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
        t.equal(answer.headers.get('cache-control'), 'no-store')
      })
    }

    await t.test(`a pushed request leads to a code, with its state unchanged (${kind})`, async t => {
      const state = `${'ü😀&#="<>%0d%0a'.repeat(100)}${'A'.repeat(1000)}`
      const request_uri = await pushed({ ...request, state, scope: 'write read' })

      const done = await signInAndAllow(place({ client_id: 'app', request_uri }))

      t.equal(done.origin + done.pathname, callback)
      t.match(Object.fromEntries(done.searchParams), { state, iss: url })
      const { body } = await redeem(done.searchParams.get('code') ?? '')
      t.same(new Set(String(body.scope).split(' ')), new Set(['read', 'write']))
    })

    await t.test(
      `a pushed request without a state gets none, also if the browser sends one (${kind}) (RFC 6749 section 4.1.2; checklist 46)`,
      async t => {
        const request_uri = await pushed(without('state'))

        const done = await signInAndAllow(place({ client_id: 'app', request_uri, state: 'outside' }))

        t.ok(done.searchParams.has('code'))
        t.notOk(done.searchParams.has('state'))
      },
    )

    await t.test(
      `prompt=none gets login_required when the browser opens the pushed request (${kind}) (OpenID Connect Core section 3.1.2.6; checklist 53)`,
      async t => {
        const answer = await visit({ client_id: 'app', request_uri: await pushed({ ...request, prompt: 'none' }) })

        t.ok(answer.headers.get('location')?.startsWith(`${callback}?error=login_required&`))
      },
    )

    await t.test(
      `no answer of the authorization endpoint is for scripts of other origins (${kind}) (RFC 9700 section 2.6; checklist 55)`,
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
      await t.test(
        'while Redis is away a push and the use of a pushed request get 503 (RFC 7009 section 2.2.1; checklist 78)',
        async t => {
          const request_uri = await pushed()
          await redis.kill()

          const answer = await push()
          t.match(answer, { status: 503, body: { error: 'temporarily_unavailable' } })
          t.equal(answer.headers.get('retry-after'), '1')
          const page = await visit({ client_id: 'app', request_uri })
          t.equal(page.status, 503)
          t.equal(page.headers.get('location'), null)
        },
      )
    }
  })
}
