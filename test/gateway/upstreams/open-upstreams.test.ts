import { pino } from 'pino'
import t from 'tap'
import { openUpstreams } from '../../../src/gateway/upstreams/open-upstreams.ts'
import { createRecorder } from '../../../src/telemetry/recorder.ts'
import { openUpstream } from './support.ts'

t.test('where one of them cannot be opened, none stays open', async t => {
  const { options } = openUpstream(t, { targets: ['http://127.0.0.1:1'] }).upstream
  const recorder = createRecorder()
  const deps = { recorder, log: pino({ enabled: false }) }
  const available = recorder.gauge('upstreamMembers', ['up', 'available'])
  const broken = { ...options, name: 'broken', tls: { caFile: '/nowhere/ca.pem' } }

  t.throws(() => openUpstreams([options, broken], deps), { message: /ca\.pem cannot be read/ })

  t.equal(available.take()[1], 0)
})

t.test('each has the name that the configuration gives it', async t => {
  const { options } = openUpstream(t, { targets: ['http://127.0.0.1:1'] }).upstream
  const deps = { recorder: createRecorder(), log: pino({ enabled: false }) }
  const upstreams = openUpstreams([options, { ...options, name: 'other' }], deps)
  t.teardown(() => {
    for (const upstream of upstreams.values()) upstream.close()
  })

  t.same([...upstreams.keys()], ['up', 'other'])
  t.same(
    [...upstreams.values()].map(({ name }) => name),
    ['up', 'other'],
  )
})

t.test('one that another gateway has open is shared, and closes with the last of them', async t => {
  const { options } = openUpstream(t, { targets: ['http://127.0.0.1:1'] }).upstream
  const recorder = createRecorder()
  const deps = { recorder, log: pino({ enabled: false }) }
  const available = recorder.gauge('upstreamMembers', ['up', 'available'])
  const before = openUpstreams([options], deps)
  const after = openUpstreams([options], deps, ({ name }) => before.get(name))
  const open = () => available.take()[1]

  t.equal(after.get('up'), before.get('up'))
  t.equal(open(), 1)
  before.get('up')?.close()
  t.equal(open(), 1)
  after.get('up')?.close()
  t.equal(open(), 0)
})
