import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'
import { type KeyRing, type KeyRingOptions, openKeyRing } from '../../../src/oauth/keys/key-ring.ts'
import { signJwt, verifyJwt } from '../../../src/oauth/tokens/jwt.ts'
import { Secret } from '../../../src/secret.ts'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import { openStore } from '../../../src/stores/open.ts'
import type { KeyStore } from '../../../src/stores/ports/keys.ts'
import type { StoreUrl } from '../../../src/stores/store-url.ts'
import { makeFolder } from '../../config/support.ts'
import { startRedis } from '../../support/redis.ts'
import { createManualClock, type ManualClock } from '../support/authorization-server.ts'

const daySec = 24 * 3600
/** The cache time of a response with the key set, plus the time until every process returns the new set. */
const publicationSec = 300 + 15
const tokenSec = 600
const skewSec = 60

const options: KeyRingOptions = {
  accessToken: { format: 'jwt', lifetimeSec: tokenSec, alg: 'ES256' },
  clients: createClients([]),
  keys: { rotateEverySec: 30 * daySec },
}

const stores: Readonly<Record<string, (t: Test) => Promise<StoreUrl>>> = {
  memory: async () => ({ kind: 'memory' }),
  sqlite: async t => ({ kind: 'sqlite', path: join(makeFolder(t), 'keys.db') }),
  redis: async t => ({ kind: 'redis', mode: 'single', url: new Secret((await startRedis(t)).url) }),
}

/** Four processes over one store, represented by a connection and a key ring each. */
const openRings = async (t: Test, url: StoreUrl, clock: ManualClock) => {
  const open = async (): Promise<KeyStore> => {
    const store = await openStore(url, clock)
    t.teardown(() => store.close())
    return store.keys
  }
  const keys = await open()
  const openRing = async (): Promise<KeyRing> => {
    const ring = await openKeyRing(url.kind === 'memory' ? keys : await open(), clock, options)
    t.teardown(() => ring.close())
    return ring
  }
  const first = await openRing()
  return { keys, first, rings: [first, await openRing(), await openRing(), await openRing()] }
}

const kidOf = (ring: KeyRing): string => ring.current('ES256').kid
const publishedBy = (ring: KeyRing) => ring.publicJwks().keys.map(({ kid }) => kid)

for (const [kind, makeStore] of Object.entries(stores)) {
  t.test(
    `a key is published before it signs, and stays until its last token has expired (${kind}) (OpenID Connect Core section 10.1.1; checklist 96)`,
    async t => {
      const clock = createManualClock()
      const { keys, first, rings } = await openRings(t, await makeStore(t), clock)
      const everywhere = <T>(ask: (ring: KeyRing) => T): T[] => [...new Set(rings.map(ask))]
      const sign = (ring: KeyRing) => signJwt(ring.current('ES256'), 'at+jwt', { iss: 'here' })
      const isGoodEverywhere = async (token: string) =>
        (await Promise.all(rings.map(ring => verifyJwt(token, 'at+jwt', ring)))).every(claims => claims?.iss === 'here')
      /** All processes read the keys at once, as after a token with an unknown key. */
      const reread = () => Promise.all(rings.map(ring => ring.find('unknown')))
      const [old = ''] = everywhere(kidOf)

      clock.advanceSec(30 * daySec - publicationSec - 1)
      await reread()
      t.same(
        everywhere(ring => publishedBy(ring).join()),
        [old],
        'no successor is created before it is due',
      )

      clock.advanceSec(1)
      await reread()
      await reread()
      clock.advanceSec(1)
      await reread()
      const next = publishedBy(first).find(kid => kid !== old) ?? ''
      t.same(
        everywhere(ring => publishedBy(ring).join()),
        [`${old},${next}`],
        'when four processes create a successor, one is stored',
      )
      t.same(everywhere(kidOf), [old])

      clock.advanceSec(publicationSec - 2)
      const last = sign(first)
      t.same(everywhere(kidOf), [old], 'until the last second before')
      clock.advanceSec(1)
      t.same(everywhere(kidOf), [next], 'in every process at the same instant, without a read')
      t.ok(await isGoodEverywhere(sign(first)))

      clock.advanceSec(tokenSec + skewSec - 1)
      await reread()
      t.ok(await isGoodEverywhere(last), 'as long as a token may be valid by any clock')
      t.same(
        everywhere(ring => publishedBy(ring).join()),
        [`${old},${next}`],
      )
      clock.advanceSec(1)
      await reread()
      t.notOk(await isGoodEverywhere(last))
      t.same(
        everywhere(ring => publishedBy(ring).join()),
        [next],
      )
      const stored = await keys.load(clock.nowMs())
      t.same(
        stored.map(({ kid, alg }) => (alg === 'HS256' ? alg : kid)).sort(),
        ['HS256', next].sort(),
        'nor is it stored',
      )
    },
  )
}

t.test(
  'a successor that was due while no process ran is published before it signs (OpenID Connect Core section 10.1.1; checklist 96)',
  async t => {
    const clock = createManualClock()
    const url: StoreUrl = { kind: 'sqlite', path: join(makeFolder(t), 'keys.db') }
    const old = kidOf((await openRings(t, url, clock)).first)
    clock.advanceSec(80 * daySec)

    const { rings } = await openRings(t, url, clock)

    t.same([...new Set(rings.map(kidOf))], [old])
    clock.advanceSec(publicationSec)
    const [next, ...others] = new Set(rings.map(kidOf))
    t.not(next, old)
    t.same(others, [])
  },
)

t.test('the key of an unused algorithm is removed when its last token has expired', async t => {
  const clock = createManualClock()
  const store = createMemoryStore(clock)
  const withEdwards = { ...options, accessToken: { ...options.accessToken, alg: 'EdDSA' as const } }
  const before = await openKeyRing(store.keys, clock, withEdwards)
  t.teardown(() => before.close())
  const { kid } = before.current('EdDSA')
  const after = await openKeyRing(store.keys, clock, options)
  t.teardown(() => after.close())

  t.match(after.find(kid), { kid }, 'other processes may still have the old configuration')
  clock.advanceSec(30 * daySec + publicationSec + tokenSec + skewSec - 1)
  await after.find('unknown')
  t.match(after.find(kid), { kid })
  clock.advanceSec(1)
  t.equal(await after.find('unknown'), undefined)
  t.notOk(publishedBy(after).includes(kid))
})

t.test('the digest key is never rotated', async t => {
  const clock = createManualClock()
  const { first: ring } = await openRings(t, { kind: 'memory' }, clock)
  const before = ring.digest('text')

  for (let month = 0; month < 12; month++) {
    clock.advanceSec(31 * daySec)
    await ring.find('unknown')
  }

  t.equal(ring.digest('text'), before)
})
