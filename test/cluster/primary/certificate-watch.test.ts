import { pino } from 'pino'
import t from 'tap'
import { createCertificateWatch } from '../../../src/cluster/primary/certificate-watch.ts'
import { createTestClock } from '../../support/test-clock.ts'

const setup = () => {
  const clock = createTestClock()
  const said: string[] = []
  const log = pino({}, { write: line => void said.push(JSON.parse(line).reason) })
  return { said, watch: createCertificateWatch(log, clock), advance: clock.advance }
}

t.test('what every worker finds in the same files is said once', async t => {
  const { said, watch, advance } = setup()

  for (let worker = 0; worker < 4; worker++) {
    watch.refused('/a.pem has expired', 'content 1')
    advance(2000)
  }
  watch.refused('/a.pem has expired', 'content 2')
  watch.refused('/a.pem cannot be read', 'unreadable')
  watch.refused('/b.pem cannot be read', 'unreadable')

  t.same(said, ['/a.pem has expired', '/a.pem has expired', '/a.pem cannot be read', '/b.pem cannot be read'])
})

t.test('the same again at another time is said again', async t => {
  const { said, watch, advance } = setup()

  watch.refused('/a.pem cannot be read', 'unreadable')
  advance(60_001)
  watch.refused('/a.pem cannot be read', 'unreadable')

  t.equal(said.length, 2)
})
