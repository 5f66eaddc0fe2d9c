import t from 'tap'
import { newTraceId } from '../../../src/http/peer/trace-context.ts'
import { isSampled } from '../../../src/telemetry/tracing/sampler.ts'

const ids = Array.from({ length: 10_000 }, newTraceId)

t.test('whoever follows the parent does as it does, whatever the ratio', async t => {
  for (const ratio of [0, 0.5, 1]) {
    t.ok(ids.every(id => isSampled({ ratio, followsParent: true }, id, true)))
    t.notOk(ids.some(id => isSampled({ ratio, followsParent: true }, id, false)))
  }
})

t.test('none of a ratio of 0, all of 1, and so many of what is between', async t => {
  const countOf = (ratio: number) => ids.filter(id => isSampled({ ratio, followsParent: true }, id, undefined)).length

  t.equal(countOf(0), 0)
  t.equal(countOf(1), ids.length)
  t.ok(Math.abs(countOf(0.2) - 2000) < 300, 'seven standard deviations')
})

t.test('a smaller ratio records none that a larger one leaves out, and the parent may not count', async t => {
  const at = (ratio: number, id: string) => isSampled({ ratio, followsParent: false }, id, false)

  t.ok(ids.every(id => !at(0.1, id) || at(0.3, id)))
  t.ok(at(1, ids[0] ?? ''))
})
