import t, { type Test } from 'tap'
import { callback, signInAndAllow, startOAuth } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'

/** RFC 7636 appendix B. */
const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

const start = async (t: Test, changes = {}): Promise<string> => {
  const plans = { 'default-plan': { title: 'Default Plan', rate: '6/1hour' } }
  const { url } = await startOAuth(t, { trustedProxies: ['127.0.0.1'], plans, ...changes })
  return url
}

/** A token request of the public client, which shows its id and what it redeems. */
const askFrom = async (url: string, address: string, fields: Readonly<Record<string, string>>) => {
  const response = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { 'x-forwarded-for': address },
    body: new URLSearchParams({ client_id: 'spa', ...fields }),
  })
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> }
}

const garbage = { grant_type: 'refresh_token', refresh_token: 'garbage' }

const signIn = async (url: string): Promise<string> => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'spa',
    redirect_uri: callback,
    code_challenge,
    code_challenge_method: 'S256',
  })
  const done = await signInAndAllow(new URL(`${url}/authorize?${query}`))
  return done.searchParams.get('code') ?? ''
}

const stores = {
  sqlite: async () => ({}),
  redis: async (t: Test) => ({ store: (await startRedis(t)).url }),
}

for (const [name, store] of Object.entries(stores)) {
  t.test(
    `strangers that show the id of a public client do not use up its plan, with four workers (${name})`,
    async t => {
      const url = await start(t, { workers: 4, ...(await store(t)) })
      const code = await signIn(url)

      for (let nth = 0; nth < 30; nth++) t.equal((await askFrom(url, `192.0.2.${nth}`, garbage)).status, 400)
      for (let nth = 0; nth < 5; nth++) t.equal((await askFrom(url, '192.0.2.1', garbage)).status, 400)
      t.equal((await askFrom(url, '192.0.2.1', garbage)).status, 429, 'each address has the plan for itself')
      const redeem = { grant_type: 'authorization_code', code, code_verifier, redirect_uri: callback }
      t.equal((await askFrom(url, '198.51.100.1', redeem)).status, 200)
    },
  )
}

t.test(
  'codes and refresh tokens that are redeemed are charged to the public client, from whatever address',
  async t => {
    const url = await start(t)
    const redeem = { grant_type: 'authorization_code', code: await signIn(url), code_verifier, redirect_uri: callback }
    let { status, body } = await askFrom(url, '198.51.100.1', redeem)
    for (let nth = 2; nth <= 6; nth++) {
      t.equal(status, 200)
      const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token ?? '' }
      ;({ status, body } = await askFrom(url, `198.51.100.${nth}`, refresh))
    }
    t.equal(status, 200)

    let nth = 0
    await eventually(async () => (await askFrom(url, `203.0.113.${nth++ % 250}`, garbage)).status === 429)
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token ?? '' }
    t.equal((await askFrom(url, '198.51.100.7', refresh)).status, 429, 'the plan of the client is used up')
  },
)
