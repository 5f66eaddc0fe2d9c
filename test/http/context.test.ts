import t from 'tap'
import { traceparentOf } from '../../src/http/context.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

t.test('a trace goes on under a span of our own', async t => {
  for (const flags of ['00', '01']) {
    const made = traceparentOf(`00-${trace}-${span}-${flags}`)
    t.match(made, new RegExp(`^00-${trace}-[0-9a-f]{16}-${flags}$`))
    t.notMatch(made, new RegExp(span))
  }
})

t.test('what is no trace context starts a new trace', async t => {
  const broken = [
    undefined,
    '',
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}-01-more`,
    `ff-${trace}-${span}-01`,
    `00-${trace}-${span}-01, 00-${trace}-${span}-01`,
  ]

  for (const received of broken) {
    const made = traceparentOf(received)
    t.match(made, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/, String(received))
    t.notMatch(made, new RegExp(trace))
  }
})

t.test('no two spans are alike, however many are made', async t => {
  const made = new Set(Array.from({ length: 10_000 }, () => traceparentOf(undefined)))

  t.equal(made.size, 10_000)
})
