import { randomFillSync } from 'node:crypto'
import t from 'tap'
import { createRandomText, poolBytes, randomText } from '../src/random-text.ts'

t.test('no byte is handed out twice, and none is left over in the pool', async t => {
  let pool: Buffer | undefined
  const drawn: string[] = []
  const take = createRandomText(filled => {
    pool = randomFillSync(filled)
    drawn.push(filled.toString('hex'))
  })

  // 24 does not divide the pool: what is left at its end is too little for another one.
  const taken = Array.from({ length: 500 }, () => Buffer.from(take(24), 'base64url').toString('hex'))

  const perFill = Math.floor(poolBytes / 24)
  t.same(
    taken,
    taken.map((_, nth) => drawn[Math.floor(nth / perFill)]?.slice((nth % perFill) * 48, ((nth % perFill) + 1) * 48)),
  )
  const usedBytes = (500 % perFill) * 24
  t.ok(pool?.subarray(0, usedBytes).every(byte => byte === 0))
})

t.test('a generator that fails hands out nothing of what was there before', async t => {
  let fails = false
  const take = createRandomText(pool => {
    if (fails) throw new Error('no entropy')
    pool.fill(7)
  })
  take(poolBytes)
  fails = true

  t.throws(() => take(1), /no entropy/)
  t.throws(() => take(1), /no entropy/)
  fails = false
  t.equal(take(1), Buffer.from([7]).toString('base64url'))
})

t.test('a text has all its bytes, and more than a pool has is refused', async t => {
  t.match(randomText(16), /^[\w-]{22}$/)
  t.match(randomText(32), /^[\w-]{43}$/)
  t.equal(new Set(Array.from({ length: 2000 }, () => randomText(16))).size, 2000)
  t.throws(() => randomText(poolBytes + 1), RangeError)
})
