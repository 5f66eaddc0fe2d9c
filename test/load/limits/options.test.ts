import t from 'tap'
import { parseLimitsOptions } from './options.ts'
import { scenarios } from './scenario.ts'

t.test('without arguments everything is run', async t => {
  const options = parseLimitsOptions([])

  t.same(options?.topologies, [
    { workers: 1, pods: 1 },
    { workers: 4, pods: 1 },
    { workers: 2, pods: 2 },
  ])
  t.same(options?.scenarios, scenarios)
})

t.test('scenarios and processes can be chosen', async t => {
  const options = parseLimitsOptions(['--processes', '4x3', 'kill', 'edges'])

  t.same(options?.topologies, [{ workers: 4, pods: 3 }])
  t.same(
    options?.scenarios.map(({ name }) => name),
    ['edges', 'kill'],
  )
})

for (const [what, args, message] of [
  ['a scenario that there is not', ['killed'], /^unknown: killed; there are half, /],
  ['processes without a number', ['--processes', '4x'], /WORKERSxPODS/],
  ['no workers', ['--processes', '0x1'], /above 0/],
  ['no seconds', ['--seconds', '0'], /above 0/],
] as const) {
  t.test(`${what}: refused`, async t => {
    t.throws(() => parseLimitsOptions([...args]), { name: 'TypeError', message })
  })
}
