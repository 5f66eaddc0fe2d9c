import t from 'tap'
import { findKeyChanges, type KeyChange } from '../../../src/oauth/keys/key-changes.ts'
import { type KeyPolicy, publicationMs } from '../../../src/oauth/keys/rotation-schedule.ts'
import type { KeyRecord } from '../../../src/stores/ports/keys.ts'

const policy: KeyPolicy = { algorithms: ['ES256'], rotateEverySec: 86_400, tokenLifetimeSec: 600 }
const key = (kid: string, createdAtMs: number, activeAtMs = createdAtMs, alg = 'ES256'): KeyRecord => ({
  kid,
  alg,
  createdAtMs,
  activeAtMs,
  jwk: {},
})
const old = key('old', 0)
const next = key('next', 1000, 1000 + publicationMs)
const digest = key('digest', 0, 0, 'HS256')
const textOf = (changes: readonly KeyChange[]) => changes.map(({ kid, became }) => `${kid} ${became}`)

t.test('the first read reports the key that it created, and no existing one', async t => {
  const made = key('made', 5000)
  const reading = { keys: [digest, old, made], atMs: 5000 }

  t.same(textOf(findKeyChanges(undefined, reading, policy)), ['old retiring', 'made published', 'made signing'])
  t.same(textOf(findKeyChanges(undefined, { ...reading, atMs: 5001 }, policy)), [])
})

t.test(
  'a successor is published, signs after its publication, and its predecessor is removed when its last token has expired',
  async t => {
    const readings = [
      { keys: [digest, old], atMs: 500 },
      { keys: [digest, old, next], atMs: 1500 },
      { keys: [digest, old, next], atMs: 900 + publicationMs },
      { keys: [digest, old, next], atMs: 2000 + publicationMs },
      { keys: [digest, old, next], atMs: 3000 + publicationMs },
      { keys: [digest, next], atMs: 700_000 + publicationMs },
    ]

    const told = readings.slice(1).map((reading, i) => textOf(findKeyChanges(readings[i], reading, policy)))

    t.same(told, [['next published'], [], ['old retiring', 'next signing'], [], ['old gone']])
  },
)
