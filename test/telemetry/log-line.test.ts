import t from 'tap'
import { createLogger } from '../../src/telemetry/logger.ts'
import { faultsOf } from './support/log-line.ts'

const time = '2026-01-31T23:59:59.999Z'
const good = {
  level: 'info',
  time,
  pid: 7,
  event: 'config_reloaded',
  cause: 'file',
  msg: 'a new configuration is served',
}

t.test('a line that matches the catalogue has no fault', async t => {
  t.same(faultsOf(good), [])
})

for (const [what, line] of Object.entries({
  'an unknown event': { ...good, event: 'coffee_made' },
  'an unknown action': { ...good, event: 'audit', action: 'coffee_made' },
  'another level': { ...good, level: 'error' },
  'a field of another event': { ...good, upstream: 'accounts' },
  'a field that is missing': { ...good, cause: undefined },
  'a field of another type': { ...good, cause: 1 },
  'a field that is null': { ...good, cause: null },
  'no process': { ...good, pid: undefined },
  'another time': { ...good, time: 1 },
})) {
  t.test(`the check against the catalogue finds ${what}`, async t => {
    t.equal(faultsOf(line).length > 0, true)
  })
}

t.test('a line that is not in the catalogue does not compile', async t => {
  const { log } = await createLogger({ level: 'silent', base: {} })
  // @ts-expect-error no such event
  log.info({ event: 'coffee_made' }, 'there is coffee')
  // @ts-expect-error the level of this event is info
  log.error({ event: 'config_reloaded', cause: 'file' }, 'a new configuration is served')
  // @ts-expect-error no such field
  log.info({ event: 'config_reloaded', cause: 'file', path: '/' }, 'a new configuration is served')
  t.pass('the compiler reports each error')
})
