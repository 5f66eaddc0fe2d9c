import t, { type Test } from 'tap'
import { startOAuth } from '../oauth/support/running.ts'
import { startRedis } from '../support/redis.ts'

/** Each name may fail twice at an address, and twenty times in all. */
const failures = '2/1hour'

const stores = {
  sqlite: async () => ({}),
  redis: async (t: Test) => ({ store: (await startRedis(t)).url }),
}

/** Asks for a token as a client at this address would, over a connection of its own, so that any worker answers. */
const askFrom = async (url: string, address: string, client_secret: string): Promise<number> => {
  const response = await fetch(`${url}/token`, {
    method: 'POST',
    headers: {
      'x-forwarded-for': address,
      connection: 'close',
      authorization: `Basic ${btoa(`app:${client_secret}`)}`,
    },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  await response.body?.cancel()
  return response.status
}

for (const [name, store] of Object.entries(stores)) {
  t.test(`one name is not guessed at from many addresses beyond its limit, with four workers (${name})`, async t => {
    const { url } = await startOAuth(t, {
      workers: 4,
      trustedProxies: ['127.0.0.1'],
      login: { failures },
      ...(await store(t)),
    })

    const statuses: number[] = []
    for (let nth = 0; nth < 40; nth++) statuses.push(await askFrom(url, `192.0.2.${nth}`, 'wrong'))
    // While the store is slower than its deadline, each worker counts with a share of the limit and refuses a little
    // sooner.
    t.ok(statuses.indexOf(429) > 0 && statuses.indexOf(429) <= 20, `${statuses}`)
    t.same([...new Set(statuses.slice(20))], [429])
  })
}

t.test('wrong secrets from many addresses do not lock a client out of the address that it uses', async t => {
  const { url } = await startOAuth(t, { trustedProxies: ['127.0.0.1'], login: { failures } })
  t.equal(await askFrom(url, '198.51.100.1', 'app-secret'), 200)
  for (let nth = 0; nth < 20; nth++) t.equal(await askFrom(url, `192.0.2.${nth}`, 'wrong'), 401)
  t.equal(await askFrom(url, '192.0.2.20', 'wrong'), 429)

  t.equal(await askFrom(url, '198.51.100.1', 'app-secret'), 200)
  t.equal(await askFrom(url, '198.51.100.2', 'app-secret'), 429, 'an address where it was never proven')
})
