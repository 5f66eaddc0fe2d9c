import { generateKeyPairSync } from 'node:crypto'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'
import { type KeyRing, type KeyRingOptions, openKeyRing } from '../../../src/oauth/keys/key-ring.ts'
import { type SigningAlg, signingAlgs } from '../../../src/oauth/protocol.ts'
import { Secret } from '../../../src/secret.ts'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import type { KeyStore } from '../../../src/stores/ports/keys.ts'
import type { Store } from '../../../src/stores/ports/store.ts'
import { StoreUnavailableError } from '../../../src/stores/ports/store-unavailable.ts'
import { eventually } from '../../support/eventually.ts'
import { client, createManualClock, type ManualClock } from '../support/authorization-server.ts'

const daySec = 24 * 3600

const options: KeyRingOptions = {
  accessToken: { format: 'jwt', lifetimeSec: 600, alg: 'ES256' },
  clients: createClients([]),
  keys: { rotateEverySec: 30 * daySec },
}

const signedWith = (alg: SigningAlg): KeyRingOptions => ({
  ...options,
  clients: createClients([client('old', { access_token_signed_response_alg: alg })]),
})

const open = async (t: Test, keys: KeyStore, clock: ManualClock, more: KeyRingOptions = options): Promise<KeyRing> => {
  const ring = await openKeyRing(keys, clock, more)
  t.teardown(() => ring.close())
  return ring
}

const kidOf = (ring: KeyRing): string => ring.current('ES256').kid

/** Makes the ring read its store, as an unknown key does. */
const reread = async (ring: KeyRing, clock: ManualClock): Promise<void> => {
  clock.advanceSec(1)
  await ring.find('unknown')
}

t.test('rings that open concurrently over one store have the same keys', async t => {
  const clock = createManualClock()
  const store = createMemoryStore(clock)

  const rings = await Promise.all(Array.from({ length: 8 }, () => open(t, store.keys, clock)))

  t.equal(new Set(rings.map(kidOf)).size, 1)
  t.equal(new Set(rings.map(ring => ring.digest('text'))).size, 1)
  t.equal((await store.keys.load(clock.nowMs())).length, 2)
})

t.test('only the public halves of the signing keys are published', async t => {
  const clock = createManualClock()
  const members = { EC: ['crv', 'kty', 'x', 'y'], RSA: ['e', 'kty', 'n'], OKP: ['crv', 'kty', 'x'] }
  for (const alg of signingAlgs) {
    const ring = await open(t, createMemoryStore(clock).keys, clock, signedWith(alg))

    const { keys } = ring.publicJwks()

    t.same(keys.map(key => key.alg).sort(), [...new Set(['ES256', alg])].sort(), 'an unused key is not created')
    const key = keys.find(({ kid }) => kid === ring.current(alg).kid)
    const own = members[String(key?.kty) as keyof typeof members]
    t.same(Object.keys(key ?? {}).sort(), ['alg', 'kid', 'use', ...own].sort(), alg)
  }
})

t.test('an algorithm that the configuration does not use has no key to sign with', async t => {
  const clock = createManualClock()
  const ring = await open(t, createMemoryStore(clock).keys, clock)

  t.throws(() => ring.current('RS256'), TypeError)
})

t.test('a key verifies the text that it signed, and no text with another character', async t => {
  const clock = createManualClock()
  for (const alg of signingAlgs) {
    const key = (await open(t, createMemoryStore(clock).keys, clock, signedWith(alg))).current(alg)

    const signature = key.sign('a text')

    t.equal(key.verify('a text', signature), true, alg)
    t.equal(key.verify('b text', signature), false)
    t.equal(key.verify('a text', Buffer.alloc(signature.length)), false)
  }
})

t.test('rings over different stores have nothing in common', async t => {
  const clock = createManualClock()
  const one = await open(t, createMemoryStore(clock).keys, clock)
  const two = await open(t, createMemoryStore(clock).keys, clock)

  t.not(kidOf(one), kidOf(two))
  t.not(one.digest('text'), two.digest('text'))
})

t.test('the lifetime of the keys is renewed every ten seconds', async t => {
  const clock = createManualClock()
  const { keys } = createMemoryStore(clock)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const kid = kidOf(await open(t, keys, clock))

  clock.advanceSec(60 * daySec)
  mock.timers.tick(10_000)
  mock.timers.reset()
  await eventually(async () => (await keys.load(clock.nowMs())).length > 2)
  clock.advanceSec(60 * daySec)

  t.ok(
    (await keys.load(clock.nowMs())).some(key => key.kid === kid),
    'ninety days after it was made',
  )
})

t.test('a key of another process is read when a token names it first', async t => {
  const clock = createManualClock()
  const { keys } = createMemoryStore(clock)
  const early = await open(t, keys, clock)
  const late = await open(t, keys, clock, signedWith('EdDSA'))
  const { kid } = late.current('EdDSA')

  t.match(await early.find(kid), { kid })
  t.match(early.find(kid), { kid }, 'and it is known at once after that')
})

t.test('tokens with unknown keys cause one read of the store a second (RFC 9068 section 4; checklist 88)', async t => {
  const clock = createManualClock()
  const { keys } = createMemoryStore(clock)
  let readings = 0
  const counted: KeyStore = {
    ...keys,
    load: untilMs => {
      readings += 1
      return keys.load(untilMs)
    },
  }
  const ring = await open(t, counted, clock)
  readings = 0

  await Promise.all(Array.from({ length: 50 }, (_, n) => ring.find(`unknown ${n}`)))
  for (let n = 0; n < 50; n++) t.equal(await ring.find(`unknown again ${n}`), undefined)
  t.equal(readings, 1)

  // A clock that is set back does not make the last read younger.
  clock.setBackSec(600)
  clock.advanceSec(1)
  await ring.find('unknown')
  t.equal(readings, 2)
})

t.test('while the store is away the known keys are still used', async t => {
  const clock = createManualClock()
  const { keys } = createMemoryStore(clock)
  let isAway = false
  const failing: KeyStore = {
    ...keys,
    load: async untilMs => {
      if (isAway) throw new StoreUnavailableError('memory', undefined)
      return keys.load(untilMs)
    },
  }
  const ring = await open(t, failing, clock)
  const kid = kidOf(ring)
  isAway = true

  await reread(ring, clock)

  t.equal(kidOf(ring), kid)
  t.match(ring.find(kid), { kid })
})

t.test('a store that has lost its data', async t => {
  const clock = createManualClock()

  await t.test('it gets back the same keys', async t => {
    const [first, second] = [createMemoryStore(clock), createMemoryStore(clock)]
    const lossy = createLossy(first)
    const ring = await open(t, lossy.keys, clock)
    const before = { kid: kidOf(ring), digest: ring.digest('text') }
    lossy.use(second)

    await reread(ring, clock)

    const other = await open(t, lossy.keys, clock)
    t.same({ kid: kidOf(other), digest: other.digest('text') }, before)
  })

  await t.test(
    'it has the keys of all processes and one digest key, also if others created theirs meanwhile',
    async t => {
      const lossy = createLossy(createMemoryStore(clock))
      const [one, two] = [await open(t, lossy.keys, clock), await open(t, lossy.keys, clock)]
      const old = kidOf(one)
      lossy.use(createMemoryStore(clock))
      clock.advanceSec(1)
      const late = await open(t, lossy.keys, clock)
      t.not(kidOf(late), old)
      t.match(one.find(old), { kid: old }, 'earlier tokens are verified all the time')

      clock.advanceSec(1)
      await Promise.all([one.find('unknown'), two.find('unknown')])
      await late.find('unknown')

      const published = (ring: KeyRing) => ring.publicJwks().keys.map(key => key.kid)
      t.same(published(one), published(late))
      t.same(published(two), published(late))
      t.same(new Set(published(late)), new Set([old, kidOf(late)]))
      t.equal(new Set([one, two, late].map(kidOf)).size, 1, 'all sign with the same')
      t.equal(new Set([one, two, late].map(ring => ring.digest('text'))).size, 1)
      const digestKeys = (await lossy.keys.load(clock.nowMs())).filter(({ alg }) => alg === 'HS256')
      t.equal(digestKeys.length, 1)
    },
  )
})

t.test('a key that lost the race is kept, and written again at the next read', async t => {
  const clock = createManualClock()
  const lossy = createLossy(createMemoryStore(clock))
  const ring = await open(t, lossy.keys, clock)
  const old = kidOf(ring)
  const empty = createMemoryStore(clock)
  clock.advanceSec(1)
  let other: KeyRing | undefined
  // Another process creates its key between the read and the write of this process.
  const create: KeyStore['create'] = async (record, after, untilMs) => {
    if (record.kid === old) other ??= await open(t, empty.keys, clock)
    return empty.keys.create(record, after, untilMs)
  }
  lossy.use({ ...empty, keys: { ...empty.keys, create } })

  await reread(ring, clock)
  t.match(ring.find(old), { kid: old })
  t.notOk(
    (await empty.keys.load(clock.nowMs())).some(({ kid }) => kid === old),
    'the other was faster',
  )

  await reread(ring, clock)
  t.ok((await empty.keys.load(clock.nowMs())).some(({ kid }) => kid === old))
  t.equal(kidOf(ring), other && kidOf(other))
})

/** A key store whose data are replaced by those of another. */
const createLossy = (first: Store) => {
  let current = first.keys
  const keys: KeyStore = {
    load: untilMs => current.load(untilMs),
    create: (record, after, untilMs) => current.create(record, after, untilMs),
    remove: kid => current.remove(kid),
  }
  return {
    keys,
    use: (next: Store) => {
      current = next.keys
    },
  }
}

t.test("an operator's own keys", async t => {
  const clock = createManualClock()
  const makeJwk = (kid: string) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return { ...privateKey.export({ format: 'jwk' }), kid, alg: 'ES256' }
  }
  const jwks = (...keys: readonly object[]): KeyRingOptions => ({
    ...options,
    keys: { ...options.keys, jwks: new Secret(JSON.stringify({ keys })) },
  })
  const [one, two] = [makeJwk('one'), makeJwk('two')]

  await t.test('they replace the keys of the store: the first one signs, the others verify', async t => {
    const { keys } = createMemoryStore(clock)
    const ring = await open(t, keys, clock, jwks(one, two))

    t.equal(kidOf(ring), 'one')
    t.match(ring.find('two'), { kid: 'two' })
    t.same(
      ring
        .publicJwks()
        .keys.map(key => key.kid)
        .sort(),
      ['one', 'two'],
    )
    t.notMatch(JSON.stringify(ring.publicJwks()), /"d":/)
    t.same(
      (await keys.load(clock.nowMs())).map(({ alg }) => alg),
      ['HS256'],
      'the store has only the digest key',
    )
    t.equal(ring.find('unknown'), undefined, 'known at once, because no other process creates keys')
  })

  await t.test('a key without a kid is named by its thumbprint', async t => {
    const { kid: _, ...nameless } = one
    const ring = await open(t, createMemoryStore(clock).keys, clock, jwks(nameless))

    t.match(kidOf(ring), /^[\w-]{43}$/)
  })

  await t.test(
    'keys with one kid or without a needed algorithm are refused, and the message has no part of a key',
    async t => {
      const { keys } = createMemoryStore(clock)

      await t.rejects(openKeyRing(keys, clock, jwks(one, { ...two, kid: 'one' })), {
        message: /two keys have the same kid/,
      })
      const needsMore = { ...jwks(one), clients: signedWith('PS256').clients }
      await t.rejects(openKeyRing(keys, clock, needsMore), { message: /no key for PS256/ })
      const broken = { ...options, keys: { ...options.keys, jwks: new Secret('{"keys": "d"') } }
      await t.rejects(openKeyRing(keys, clock, broken), { message: 'keys.jwks: the text is not a JWK set' })
    },
  )
})
