import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { inSlices } from '../../src/http/in-slices.ts'
import { eventually } from '../support/eventually.ts'

const values = Array.from({ length: 300 }, (_, nth) => ({ nth }))

t.test('all are visited once and in their order, and others have turns meanwhile', async t => {
  const seen: number[] = []
  inSlices(values.values(), ({ nth }) => {
    seen.push(nth)
    for (const fromMs = performance.now(); performance.now() - fromMs < 0.02; );
  })
  t.ok(seen.length < values.length, `${seen.length} in the first turn`)
  const before = seen.length
  await nextTurn()
  t.ok(seen.length < values.length, `${seen.length - before} in the next`)
  await eventually(() => seen.length >= values.length)

  t.same(
    seen,
    values.map(({ nth }) => nth),
  )
})

t.test('few are visited at once, none is no fault, and a value that takes long is one of its slice', async t => {
  const seen: number[] = []
  inSlices(values.slice(0, 1).values(), ({ nth }) => seen.push(nth))
  t.same(seen, [0])
  inSlices([].values(), () => t.fail('there is none'))
  inSlices(values.slice(0, 2).values(), ({ nth }) => {
    for (const fromMs = performance.now(); performance.now() - fromMs < 1; );
    seen.push(nth)
  })
  t.same(seen, [0, 0])
  await nextTurn()
  t.same(seen, [0, 0, 1])
})
