import t, { type Test } from 'tap'
import { callback, startOAuth, users } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const request = {
  response_type: 'code',
  client_id: 'spa',
  redirect_uri: callback,
  code_challenge: challenge,
  code_challenge_method: 'S256',
}

/** A sign-in that is begun and abandoned: the page that the browser was redirected to, and its cookie. */
const begin = async (url: string) => {
  const response = await fetch(`${url}/authorize?${new URLSearchParams(request)}`, { redirect: 'manual' })
  const page = new URL(response.headers.get('location') ?? '', url)
  return {
    page,
    cookie: response.headers
      .getSetCookie()
      .map(line => line.split(';')[0])
      .join('; '),
  }
}

const isOpen = async ({ page, cookie }: Awaited<ReturnType<typeof begin>>): Promise<boolean> => {
  const response = await fetch(page, { headers: { cookie }, redirect: 'manual' })
  return (await response.text()).includes('name="password"')
}

const push = async (url: string): Promise<number> => {
  const response = await fetch(`${url}/par`, { method: 'POST', body: new URLSearchParams(request) })
  await response.body?.cancel()
  return response.status
}

const stores = {
  sqlite: async () => ({}),
  redis: async (t: Test) => ({ store: (await startRedis(t)).url }),
}

for (const [name, store] of Object.entries(stores)) {
  t.test(`only the latest abandoned sign-ins are kept, up to login.maxInteractions (${name})`, async t => {
    const gateway = await startOAuth(t, {
      workers: 2,
      login: { maxInteractions: 4, users: await users() },
      ...(await store(t)),
    })
    const { url } = gateway

    const begun: Awaited<ReturnType<typeof begin>>[] = []
    for (let nth = 0; nth < 7; nth++) begun.push(await begin(url))
    for (let nth = 0; nth < 6; nth++) t.equal(await push(url), 201)

    const open: boolean[] = []
    for (const each of begun) open.push(await isOpen(each))
    t.same(open, [false, false, false, true, true, true, true])
    await eventually(async () => {
      const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
      return (
        /^sidegate_shed_total\{.*kind="interaction".*\} 3$/m.test(metrics) &&
        /^sidegate_shed_total\{.*kind="pushed_request".*\} 2$/m.test(metrics)
      )
    })
  })
}
