import { pino } from 'pino'
import t from 'tap'
import { createStoreHealth } from '../../../src/cluster/primary/store-health.ts'

const setup = () => {
  const said: string[] = []
  const log = pino({}, { write: line => void said.push(JSON.parse(line).event) })
  return { said, watch: createStoreHealth('redis', log) }
}

for (const part of ['store', 'limiter'] as const) {
  t.test(
    `the only worker ends while its ${part} is down: it is reported down until the next worker reaches it`,
    async t => {
      const { said, watch } = setup()
      watch.report('one', part, true, undefined)
      watch.report('one', part, false, 'refused')

      watch.forget('one')

      t.same(said, ['store_down'])
      t.match(watch.finding(part), /\(refused\)/)
      watch.report('two', part, false, 'unknown')
      t.match(watch.finding(part), /\(unknown\)/)
      watch.forget('two')
      t.same(said, ['store_down'], 'once')
      watch.report('three', part, true, undefined)
      t.same(said, ['store_down', 'store_up'])
      t.equal(watch.finding(part), 'ok')
    },
  )
}

t.test('if the worker that reported a failure ends and another one reaches the store, the store is up', async t => {
  const { said, watch } = setup()
  watch.report('one', 'store', true, undefined)
  watch.report('two', 'store', false, 'refused')

  watch.forget('two')

  t.same(said, ['store_down', 'store_up'])
})

t.test('a new reason is kept, and no new line is logged', async t => {
  const { said, watch } = setup()

  watch.report('one', 'store', false, 'it ended the connection')
  watch.report('one', 'store', false, 'refused')

  t.equal(watch.finding('store'), 'down (refused)')
  t.same(said, ['store_down'])
})
