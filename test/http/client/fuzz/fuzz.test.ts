import t from 'tap'
import { refusedByNode, refusedByOurs } from './deviations.ts'
import { readAsOurs } from './our-client.ts'
import { runResponseFuzz } from './run-response-fuzz.ts'

t.test('our client and that of Node read the same out of 100,000 answers, however the bytes are cut', async t => {
  const { verdicts, violations } = await runResponseFuzz({ seed: 1, responses: 100_000, read: readAsOurs })

  t.same(violations, [])
  t.ok((verdicts.get('same') ?? 0) > 30_000, `both accept ${verdicts.get('same')} answers`)
  for (const { reason } of refusedByOurs) t.ok(verdicts.has(`ours refuses: ${reason}`), `${reason} occurs`)
  for (const { reason } of refusedByNode) t.ok(verdicts.has(`node refuses: ${reason}`), `${reason} occurs`)
})

t.test('a parser that reads an answer wrong is found', async t => {
  const { violations } = await runResponseFuzz({
    seed: 2,
    responses: 500,
    read: (response, pieces) => {
      const reading = readAsOurs(response, pieces)
      return reading.is === 'accepted' ? { ...reading, body: reading.body.replace(/\n$/, '') } : reading
    },
  })

  t.ok(violations.length > 0)
  for (const violation of violations) t.match(violation, /^violation: both accept, and read differently/)
})
