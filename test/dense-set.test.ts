import t from 'tap'
import { DenseSet } from '../src/dense-set.ts'

t.test('the set contains the entries that were added and not deleted, in any order of calls', async t => {
  const roll = new DenseSet<number>()
  const there = new Map<number, ReturnType<typeof roll.add>>()
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let step = 0; step < 5000; step++) {
    const place = [...there.keys()][random(there.size * 2 + 1)]
    if (place === undefined) {
      there.set(step, roll.add(step))
    } else {
      const entered = there.get(place)
      if (entered) roll.remove(entered)
      there.delete(place)
    }
  }

  t.ok(there.size > 0)
  t.equal(roll.size, there.size)
  t.same([...roll].sort(), [...there.keys()].sort())
})

t.test('forEach visits each entry once, even if a callback deletes its own entry', async t => {
  const roll = new DenseSet<string>()
  const places = new Map(['a', 'b', 'c', 'd', 'e'].map(name => [name, roll.add(name)]))
  const called: string[] = []
  for (const name of roll) {
    called.push(name)
    const place = places.get(name)
    if (place && name !== 'c') roll.remove(place)
  }

  t.same(called.sort(), ['a', 'b', 'c', 'd', 'e'])
  t.same([...roll], ['c'])
})
