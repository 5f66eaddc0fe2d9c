import t from 'tap'
import { newTraceId } from '../../../src/http/peer/trace-context.ts'
import { isSampled } from '../../../src/telemetry/tracing/sampler.ts'

const ids = Array.from({ length: 10_000 }, newTraceId)

t.test('a sampler that follows the parent uses the decision of the parent, whatever the ratio', async t => {
  for (const ratio of [0, 0.5, 1]) {
    t.ok(ids.every(id => isSampled({ ratio, followsParent: true }, id, true)))
    t.notOk(ids.some(id => isSampled({ ratio, followsParent: true }, id, false)))
  }
})

t.test('a ratio of 0 samples no trace, 1 samples all, and a ratio between samples that fraction', async t => {
  const countOf = (ratio: number) => ids.filter(id => isSampled({ ratio, followsParent: true }, id, undefined)).length

  t.equal(countOf(0), 0)
  t.equal(countOf(1), ids.length)
  t.ok(Math.abs(countOf(0.2) - 2000) < 300, 'seven standard deviations')
})

t.test('a larger ratio samples every trace of a smaller ratio, and the parent can be ignored', async t => {
  const at = (ratio: number, id: string) => isSampled({ ratio, followsParent: false }, id, false)

  t.ok(ids.every(id => !at(0.1, id) || at(0.3, id)))
  t.ok(at(1, ids[0] ?? ''))
})
