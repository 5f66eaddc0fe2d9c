import t from 'tap'
import { createRecorder } from '../../src/telemetry/recorder.ts'

const request = ['G', '1.0.0', 'GET /a', 'GET', '200']

t.test('changes name each cell once, and hold what was added since the last time they were taken', async t => {
  const recorder = createRecorder()
  const counter = recorder.counter('httpRequests', request)
  counter.add()
  counter.add(2)

  t.same(recorder.takeChanges(), {
    cells: [{ id: 0, key: 'httpRequests', labels: request }],
    numbers: [[0, 3]],
    histograms: [],
  })

  counter.add()
  t.same(recorder.takeChanges(), { cells: [], numbers: [[0, 1]], histograms: [] })
})

t.test('if nothing changed, there are no changes to take', async t => {
  const recorder = createRecorder()
  t.equal(recorder.takeChanges(), undefined)

  recorder.counter('httpRequests', request).add()
  recorder.takeChanges()

  t.equal(recorder.takeChanges(), undefined)
})

t.test('the same labels select the same cell', async t => {
  const recorder = createRecorder()

  t.equal(recorder.counter('httpRequests', request), recorder.counter('httpRequests', [...request]))
  t.not(recorder.counter('httpRequests', request), recorder.counter('httpRequests', ['H', ...request.slice(1)]))
})

t.test('the changes hold the value of a gauge, not its differences', async t => {
  const recorder = createRecorder()
  const gauge = recorder.gauge('httpRequestsInFlight', ['G'])
  gauge.add(1)
  gauge.add(1)
  t.match(recorder.takeChanges(), { numbers: [[0, 2]] })

  gauge.add(-1)

  t.match(recorder.takeChanges(), { numbers: [[0, 1]] })
})

t.test('a histogram counts a value in the first bucket whose bound is not below the value', async t => {
  const recorder = createRecorder()
  const histogram = recorder.histogram('httpRequestDuration', ['G', 'GET /a', '2xx'])

  for (const seconds of [0.001, 0.0011, 30, 31]) histogram.observe(seconds)

  const [taken] = recorder.takeChanges()?.histograms ?? []
  const [, sum, counts] = taken ?? []
  t.ok(Math.abs((sum ?? 0) - 61.0021) < 1e-9)
  t.same(counts, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
})

const trace = (digit: string): string => digit.repeat(32)

t.test('the changes hold the latest recorded trace of each bucket of a histogram, once', async t => {
  const recorder = createRecorder()
  const histogram = recorder.histogram('httpRequestDuration', ['G', 'GET /a', '2xx'])
  histogram.observe(0.0005, trace('1'))
  histogram.observe(0.0007, trace('2'))
  histogram.observe(31, trace('3'))
  histogram.observe(32)

  const [first] = recorder.takeChanges()?.histograms ?? []
  t.match(first?.[3], [
    { bucket: 0, traceId: trace('2'), value: 0.0007 },
    { bucket: 14, traceId: trace('3'), value: 31 },
  ])
  t.equal(first?.[3]?.length, 2)

  histogram.observe(1)
  const [second] = recorder.takeChanges()?.histograms ?? []
  t.equal(second?.length, 3)
})

t.test('a shared gauge is the minimum of its contributions, and disappears when the last one is released', async t => {
  const recorder = createRecorder()
  const taken = (): unknown => recorder.takeChanges()?.numbers
  const cell = recorder.least('certificateExpiry', ['upstream', 'a'])
  t.same(taken(), [], 'the gauge has no contribution yet')
  const [one, two] = [cell.contribute(), cell.contribute()]

  one.set(20)
  two.set(10)
  t.same(taken(), [[0, 10]])

  two.release()
  t.same(taken(), [[0, 20]])

  one.release()
  t.same(taken(), [[0, null]])

  one.release()
  t.equal(taken(), undefined)
})

t.test('the recorder calls its listener once for new changes, until they are taken', t => {
  let told = 0
  const recorder = createRecorder(() => told++)
  const counter = recorder.counter('httpRequests', request)
  recorder.takeChanges()
  told = 0

  counter.add()
  counter.add()
  recorder.gauge('workers', []).set(1)
  t.equal(told, 1)
  recorder.takeChanges()
  counter.add()

  t.equal(told, 2)
  t.end()
})

t.test('an observation of a quiet histogram does not call the listener, and is taken with the other changes', t => {
  let told = 0
  const recorder = createRecorder(() => told++)
  const quiet = recorder.quietHistogram('storeDuration', ['sqlite', 'ping'])
  recorder.takeChanges()
  told = 0

  quiet.observe(0.001)
  t.equal(told, 0)
  recorder.counter('httpRequests', request).add()

  t.equal(told, 1)
  t.equal(recorder.takeChanges()?.histograms.length, 1)
  t.end()
})
