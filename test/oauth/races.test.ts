import t, { type Test } from 'tap'
import { challengeOf } from '../../src/oauth/tokens/code.ts'
import { startRedis } from '../support/redis.ts'
import { newKey, type TestKey } from './fapi/support/jws.ts'
import { verifier } from './support/authorization-server.ts'
import { type Fields, post } from './support/post.ts'
import { newProof } from './support/proofs.ts'
import { callback, signInAndAllow, startOAuth } from './support/running.ts'

const stores: Readonly<Record<string, (t: Test) => Promise<Readonly<Record<string, string>>>>> = {
  sqlite: async () => ({}),
  redis: async t => ({ store: (await startRedis(t)).url }),
}

/** What alice's browser brings to the client after she has agreed. */
const newCode = async (url: string, client_id: string): Promise<string> => {
  const authorization = new URL(`${url}/authorize`)
  authorization.search = new URLSearchParams({
    client_id,
    response_type: 'code',
    redirect_uri: callback,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
  }).toString()
  return (await signInAndAllow(authorization)).searchParams.get('code') ?? ''
}

const redemption = (code: string): Fields => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: callback,
  code_verifier: verifier,
})

const proofFor = (url: string, key: TestKey, nonce?: string): string =>
  newProof(key, { uri: `${url}/token`, nowMs: Date.now(), nonce })

/** The nonce that a proof without one is answered with; good for every worker. */
const askNonce = async (url: string): Promise<string> => {
  const dpop = proofFor(url, newKey('ES256'))
  const { headers } = await post(`${url}/token`, { grant_type: 'client_credentials' }, 'app', { dpop })
  return headers.get('dpop-nonce') ?? ''
}

for (const [kind, openStore] of Object.entries(stores)) {
  t.test(`four workers that share one store (${kind})`, async t => {
    const gateway = await startOAuth(t, { workers: 4, ...(await openStore(t)) })
    const { url } = gateway

    await t.test(`line 82: 20 parallel refreshes over the workers make one lineage (${kind})`, async t => {
      const spa = { client_id: 'spa' }
      const first = await post(`${url}/token`, { ...redemption(await newCode(url, 'spa')), ...spa })
      const refresh = (refresh_token: unknown) =>
        post(`${url}/token`, { grant_type: 'refresh_token', refresh_token: String(refresh_token), ...spa })

      const replies = await Promise.all(Array.from({ length: 20 }, () => refresh(first.body.refresh_token)))

      t.ok(replies.every(({ status }) => status === 200))
      const successors = new Set(replies.map(({ body }) => body.refresh_token))
      t.equal(successors.size, 1)
      t.equal((await refresh([...successors][0])).status, 200)
    })

    await t.test(
      `line 82, 85: with a key they make one lineage, and another key has no part in it (${kind})`,
      async t => {
        const [owner, thief] = [newKey('ES256'), newKey('ES256')]
        const nonce = await askNonce(url)
        const bound = (fields: Fields, key: TestKey) =>
          post(`${url}/token`, { ...fields, client_id: 'spa' }, undefined, { dpop: proofFor(url, key, nonce) })
        const first = await bound(redemption(await newCode(url, 'spa')), owner)
        const refresh = (refresh_token: unknown, key: TestKey) =>
          bound({ grant_type: 'refresh_token', refresh_token: String(refresh_token) }, key)

        const replies = await Promise.all(Array.from({ length: 20 }, () => refresh(first.body.refresh_token, owner)))

        t.ok(replies.every(({ status, body }) => status === 200 && body.token_type === 'DPoP'))
        const [successor, ...others] = new Set(replies.map(({ body }) => body.refresh_token))
        t.same(others, [])
        for (const token of [first.body.refresh_token, successor]) {
          t.match(await refresh(token, thief), { status: 400, body: { error: 'invalid_grant' } })
        }
        t.equal((await refresh(successor, owner)).status, 200)
      },
    )

    await t.test(`line 91: of 20 parallel requests with one proof exactly one succeeds (${kind})`, async t => {
      const dpop = proofFor(url, newKey('ES256'), await askNonce(url))
      const ask = () => post(`${url}/token`, { grant_type: 'client_credentials' }, 'app', { dpop })

      const replies = await Promise.all(Array.from({ length: 20 }, ask))

      t.equal(replies.filter(({ status }) => status === 200).length, 1)
      t.equal(replies.filter(({ body }) => body.error === 'invalid_dpop_proof').length, 19)
    })
  })
}
