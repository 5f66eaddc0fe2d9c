import t from 'tap'
import { shareOf } from '../../../src/stores/limits/local-share.ts'

t.test('the shares of all places add up to the limit and differ by one at most', async t => {
  for (const limit of [1, 7, 10, 100, 101, 5000])
    for (const places of [1, 2, 3, 8, 24, 100]) {
      const shares = Array.from({ length: places }, (_, index) => shareOf(limit, { index, of: places }))
      t.equal(
        shares.reduce((sum, share) => sum + share, 0),
        limit,
      )
      t.ok(Math.max(...shares) - Math.min(...shares) <= 1)
    }
})
