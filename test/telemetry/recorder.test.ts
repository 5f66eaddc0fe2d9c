import t from 'tap'
import { createRecorder } from '../../src/telemetry/recorder.ts'

const request = ['G', '1.0.0', 'GET /a', 'GET', '200']

t.test('changes name each cell once, and hold what was added since they were taken', async t => {
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

t.test('where nothing changed there are no changes', async t => {
  const recorder = createRecorder()
  t.equal(recorder.takeChanges(), undefined)

  recorder.counter('httpRequests', request).add()
  recorder.takeChanges()

  t.equal(recorder.takeChanges(), undefined)
})

t.test('the same labels are the same cell', async t => {
  const recorder = createRecorder()

  t.equal(recorder.counter('httpRequests', request), recorder.counter('httpRequests', [...request]))
  t.not(recorder.counter('httpRequests', request), recorder.counter('httpRequests', ['H', ...request.slice(1)]))
})

t.test('a gauge hands over its value, not its changes', async t => {
  const recorder = createRecorder()
  const gauge = recorder.gauge('httpRequestsInFlight', ['G'])
  gauge.add(1)
  gauge.add(1)
  t.match(recorder.takeChanges(), { numbers: [[0, 2]] })

  gauge.add(-1)

  t.match(recorder.takeChanges(), { numbers: [[0, 1]] })
})

t.test('a histogram counts a value at the bucket whose bound it does not pass', async t => {
  const recorder = createRecorder()
  const histogram = recorder.histogram('httpRequestDuration', ['G', 'GET /a', '2xx'])

  for (const seconds of [0.001, 0.0011, 30, 31]) histogram.observe(seconds)

  const [taken] = recorder.takeChanges()?.histograms ?? []
  const [, sum, counts] = taken ?? []
  t.ok(Math.abs((sum ?? 0) - 61.0021) < 1e-9)
  t.same(counts, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
})
