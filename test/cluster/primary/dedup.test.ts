import { pino } from 'pino'
import t from 'tap'
import { createCertificateWatch, createChangeWatch } from '../../../src/cluster/primary/dedup.ts'
import type { AuditEntry } from '../../../src/telemetry/audit.ts'
import { createManualClock } from '../../oauth/support/authorization-server.ts'
import { createTestClock } from '../../support/test-clock.ts'

t.test('the primary writes each change once, although every worker reports it', async t => {
  const written: AuditEntry[] = []
  const watch = createChangeWatch({ write: entry => void written.push(entry) }, createManualClock())
  const disabled = { action: 'client_disabled', client_id: 'app' } as const
  const enabled = { action: 'client_enabled', client_id: 'app' } as const

  for (let worker = 0; worker < 4; worker++) watch.saw('client 1', disabled)
  for (let worker = 0; worker < 4; worker++) watch.saw('client 2', enabled)
  watch.saw('client 1', disabled)
  watch.saw('client 3', disabled)

  t.same(written, [disabled, enabled, disabled])
})

t.test('a change that is reported again after more than ten minutes is written again', async t => {
  const written: AuditEntry[] = []
  const clock = createManualClock()
  const watch = createChangeWatch({ write: entry => void written.push(entry) }, clock)
  const change = { action: 'client_disabled', client_id: 'app' } as const

  watch.saw('client 1', change)
  // The system clock is set back in between, which must not make the first report younger.
  clock.setBackSec(300)
  clock.advanceSec(601)
  watch.saw('client 1', change)

  t.equal(written.length, 2)
})

const setupCertificates = () => {
  const clock = createTestClock()
  const reasons: string[] = []
  const log = pino({}, { write: line => void reasons.push(JSON.parse(line).reason) })
  return { reasons, watch: createCertificateWatch(log, clock), advance: clock.advance }
}

t.test('the primary logs a fault of certificate files once, although every worker reports it', async t => {
  const { reasons, watch, advance } = setupCertificates()

  for (let worker = 0; worker < 4; worker++) {
    watch.refused('/a.pem has expired', 'content 1')
    advance(2000)
  }
  watch.refused('/a.pem has expired', 'content 2')
  watch.refused('/a.pem cannot be read', 'unreadable')
  watch.refused('/b.pem cannot be read', 'unreadable')

  t.same(reasons, ['/a.pem has expired', '/a.pem has expired', '/a.pem cannot be read', '/b.pem cannot be read'])
})

t.test('a fault of certificate files that is reported again after a minute is logged again', async t => {
  const { reasons, watch, advance } = setupCertificates()

  watch.refused('/a.pem cannot be read', 'unreadable')
  advance(60_001)
  watch.refused('/a.pem cannot be read', 'unreadable')

  t.equal(reasons.length, 2)
})
