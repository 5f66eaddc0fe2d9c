import t from 'tap'
import { createChangeWatch } from '../../../src/cluster/primary/change-watch.ts'
import type { AuditEntry } from '../../../src/telemetry/audit.ts'
import { createManualClock } from '../../oauth/support/authorization-server.ts'

t.test('a change is said once for all who see it, and each change by itself', async t => {
  const said: AuditEntry[] = []
  const watch = createChangeWatch({ write: entry => void said.push(entry) }, createManualClock())
  const disabled = { action: 'client_disabled', client_id: 'app' } as const
  const enabled = { action: 'client_enabled', client_id: 'app' } as const

  for (let worker = 0; worker < 4; worker++) watch.saw('client 1', disabled)
  for (let worker = 0; worker < 4; worker++) watch.saw('client 2', enabled)
  watch.saw('client 1', disabled)
  watch.saw('client 3', disabled)

  t.same(said, [disabled, enabled, disabled])
})

t.test('what was said long ago is forgotten', async t => {
  const said: AuditEntry[] = []
  const clock = createManualClock()
  const watch = createChangeWatch({ write: entry => void said.push(entry) }, clock)
  const change = { action: 'client_disabled', client_id: 'app' } as const

  watch.saw('client 1', change)
  // The clock is set back on the way: that makes it no younger.
  clock.setBackSec(300)
  clock.advanceSec(601)
  watch.saw('client 1', change)

  t.equal(said.length, 2)
})
