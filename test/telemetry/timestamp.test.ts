import t from 'tap'
import { createTimestamp } from '../../src/telemetry/timestamp.ts'

t.test('a timestamp has the current time, however often one was requested before', async t => {
  let nowMs = 1_800_000_000_000
  const timestamp = createTimestamp({ nowMs: () => nowMs })

  t.equal(timestamp(), '2027-01-15T08:00:00.000Z')
  t.equal(timestamp(), '2027-01-15T08:00:00.000Z')
  nowMs += 1
  t.equal(timestamp(), '2027-01-15T08:00:00.001Z')
  nowMs -= 1000
  t.equal(timestamp(), '2027-01-15T07:59:59.001Z')
})
