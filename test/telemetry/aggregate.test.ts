import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { type Aggregate, createAggregate } from '../../src/telemetry/aggregate.ts'
import { metrics } from '../../src/telemetry/metrics.ts'
import { createRecorder, type MetricChanges, type Recorder } from '../../src/telemetry/recorder.ts'
import { type Exposition, parseExposition, sumOf } from './support/exposition.ts'

const expose = async (aggregate: Aggregate): Promise<Exposition> =>
  parseExposition((await aggregate.expose('text')).body)

/** Passes the recorder's changes to the aggregate as JSON, as the IPC channel does. */
const handOver = (aggregate: Aggregate, source: string, recorder: Recorder): void =>
  aggregate.apply(source, JSON.parse(JSON.stringify(recorder.takeChanges())))

const startWorkers = (...names: readonly string[]) => {
  const aggregate = createAggregate()
  const workers = names.map(name => {
    const recorder = createRecorder()
    return { recorder, report: () => handOver(aggregate, name, recorder) }
  })
  return { aggregate, workers }
}

const request = ['G', '1.0.0', 'GET /a', 'GET', '200']

t.test('counters are summed over processes, and keep the counts of a process that has exited', async t => {
  const { aggregate, workers } = startWorkers('one', 'two')
  for (const { recorder, report } of workers) {
    recorder.counter('httpRequests', request).add(5)
    report()
  }
  t.equal(sumOf(await expose(aggregate), 'sidegate_http_requests_total'), 10)

  aggregate.forget('one')

  t.equal(sumOf(await expose(aggregate), 'sidegate_http_requests_total'), 10)
})

t.test('a restarted process counts on top of the counts of its predecessor', async t => {
  const { aggregate, workers } = startWorkers('one', 'one again')
  const [one, again] = workers
  one?.recorder.counter('httpRequests', request).add(5)
  one?.report()
  aggregate.forget('one')

  again?.recorder.counter('httpRequests', request).add(1)
  again?.report()

  t.equal(sumOf(await expose(aggregate), 'sidegate_http_requests_total'), 6)
})

t.test('a gauge is the sum over the running processes', async t => {
  const { aggregate, workers } = startWorkers('one', 'two')
  for (const { recorder, report } of workers) {
    recorder.gauge('httpRequestsInFlight', ['G']).set(3)
    report()
  }
  t.equal(sumOf(await expose(aggregate), 'sidegate_http_requests_in_flight'), 6)

  aggregate.forget('one')

  t.equal(sumOf(await expose(aggregate), 'sidegate_http_requests_in_flight'), 3)
})

t.test('the store is up only while every process reaches it', async t => {
  const { aggregate, workers } = startWorkers('one', 'two')
  const report = async (...values: readonly number[]): Promise<number> => {
    for (const [index, worker] of workers.entries()) {
      worker.recorder.gauge('storeUp', ['redis']).set(values[index] ?? 0)
      worker.report()
    }
    return sumOf(await expose(aggregate), 'sidegate_store_up')
  }

  t.equal(await report(1, 1), 1)
  t.equal(await report(1, 0), 0)
  t.equal(await report(1, 1), 1)
})

t.test('histograms are summed bucket by bucket, and each bucket includes all smaller values', async t => {
  const { aggregate, workers } = startWorkers('one', 'two')
  for (const { recorder, report } of workers) {
    const histogram = recorder.histogram('httpRequestDuration', ['G', 'GET /a', '2xx'])
    for (const seconds of [0.0005, 0.003, 60]) histogram.observe(seconds)
    report()
  }

  const exposition = await expose(aggregate)

  const bucket = (le: string): number => sumOf(exposition, 'sidegate_http_request_duration_seconds_bucket', { le })
  t.same(['0.001', '0.0025', '0.005', '30', '+Inf'].map(bucket), [2, 2, 4, 4, 6])
  t.equal(sumOf(exposition, 'sidegate_http_request_duration_seconds_count'), 6)
  t.ok(Math.abs(sumOf(exposition, 'sidegate_http_request_duration_seconds_sum') - 120.007) < 1e-9)
})

t.test(
  'a gauge that shows the minimum ignores processes without a value, and disappears with the last value',
  async t => {
    const { aggregate, workers } = startWorkers('one', 'two')
    const holders = workers.map(({ recorder }) => recorder.least('keyRotationDue', ['ES256']).contribute())
    const reported = async (...indexes: readonly number[]): Promise<readonly number[]> => {
      for (const index of indexes) workers[index]?.report()
      const { samples } = await expose(aggregate)
      return samples.filter(({ name }) => name.startsWith('sidegate_signing_key')).map(({ value }) => value)
    }
    holders[0]?.set(1_700_000_000)
    holders[1]?.set(1_600_000_000)
    t.same(await reported(0, 1), [1_600_000_000])

    holders[1]?.release()
    t.same(await reported(1), [1_700_000_000])

    holders[0]?.release()
    t.same(await reported(0), [])
  },
)

const traceOf = (digit: string): string => digit.repeat(32)

t.test('OpenMetrics has the latest trace of each bucket over all processes; the text format has no traces', async t => {
  const { aggregate, workers } = startWorkers('one', 'two')
  const observe = (worker: number, value: number, digit: string): void => {
    const { recorder, report } = workers[worker] ?? {}
    recorder?.histogram('httpRequestDuration', ['G', 'GET /a', '2xx']).observe(value, traceOf(digit))
    report?.()
  }
  observe(0, 0.003, '1')
  observe(1, 0.004, '2')
  observe(1, 60, '3')
  const beforeSec = Date.now() / 1000 - 60

  const { samples } = parseExposition((await aggregate.expose('openmetrics')).body)

  const shown = samples.filter(({ exemplar }) => exemplar !== undefined)
  t.match(shown, [
    { labels: { le: '0.005' }, exemplar: { labels: { trace_id: traceOf('2') }, value: 0.004 } },
    { labels: { le: '+Inf' }, exemplar: { labels: { trace_id: traceOf('3') }, value: 60 } },
  ])
  t.equal(shown.length, 2)
  for (const { exemplar } of shown) t.ok((exemplar?.timestamp ?? 0) > beforeSec, 'seconds since 1970')
  t.notMatch((await aggregate.expose('text')).body, 'trace_id')
})

t.test('an exemplar that arrives late does not replace a newer one', async t => {
  const aggregate = createAggregate()
  const labels = ['G', 'GET /a', '2xx']
  const histograms = (digit: string, atMs: number): MetricChanges['histograms'] => [
    [0, 1, [1], [{ bucket: 0, traceId: traceOf(digit), value: 0.001, atMs }]],
  ]
  const cells = [{ id: 0, key: 'httpRequestDuration', labels }] as const
  aggregate.apply('one', { cells, numbers: [], histograms: histograms('1', 2000) })

  aggregate.apply('two', { cells, numbers: [], histograms: histograms('2', 1000) })

  t.ok((await aggregate.expose('openmetrics')).body.includes(`# {trace_id="${traceOf('1')}"} 0.001 2`))
})

/** One observation of every metric, with labels that need escaping. */
const observeEverything = (): Aggregate => {
  const { aggregate, workers } = startWorkers('one')
  const [worker] = workers
  for (const [key, { kind, labels }] of Object.entries(metrics)) {
    const values = labels.map(label => `${label} "of" C:\\x`)
    const metric = key as keyof typeof metrics
    if (kind === 'counter') worker?.recorder.counter(metric, values).add()
    if (kind === 'gauge') worker?.recorder.gauge(metric, values).set(1)
    if (kind === 'histogram') worker?.recorder.histogram(metric, values).observe(1)
  }
  worker?.report()
  return aggregate
}

/** Every metric family of the contract, with its type and labels. */
const contract: readonly (readonly [name: string, type: string, labels: readonly string[]])[] = [
  ['sidegate_http_requests_total', 'counter', ['grouping', 'version', 'operation', 'method', 'code']],
  ['sidegate_http_request_duration_seconds', 'histogram', ['grouping', 'operation', 'code_class']],
  ['sidegate_http_requests_in_flight', 'gauge', ['grouping']],
  ['sidegate_connections_dropped_total', 'counter', ['reason']],
  ['sidegate_overhead_seconds', 'histogram', ['grouping']],
  ['sidegate_plan_decisions_total', 'counter', ['plan', 'grouping', 'decision']],
  ['sidegate_credential_checks_total', 'counter', ['grouping', 'credential', 'result']],
  ['sidegate_tokens_issued_total', 'counter', ['grant_type', 'format']],
  ['sidegate_introspections_total', 'counter', ['result']],
  ['sidegate_interactions_total', 'counter', ['outcome']],
  ['sidegate_oauth_errors_total', 'counter', ['operation', 'error']],
  ['sidegate_upstream_duration_seconds', 'histogram', ['upstream', 'code_class']],
  ['sidegate_upstream_errors_total', 'counter', ['upstream', 'reason']],
  ['sidegate_upstream_endpoints', 'gauge', ['upstream', 'state']],
  ['sidegate_upstream_retries_total', 'counter', ['upstream', 'decision']],
  ['sidegate_upstream_pending_requests', 'gauge', ['upstream']],
  ['sidegate_store_duration_seconds', 'histogram', ['store', 'operation']],
  ['sidegate_store_up', 'gauge', ['store']],
  ['sidegate_store_noeviction', 'gauge', ['store']],
  ['sidegate_stored_clients', 'gauge', ['state']],
  ['sidegate_shed_total', 'counter', ['kind']],
  ['sidegate_log_lines_dropped_total', 'counter', []],
  ['sidegate_trace_spans_total', 'counter', ['outcome']],
  ['sidegate_signing_key_rotation_due_timestamp_seconds', 'gauge', ['alg']],
  ['sidegate_certificate_expiry_timestamp_seconds', 'gauge', ['use', 'upstream']],
  ['sidegate_workers', 'gauge', []],
  ['sidegate_worker_restarts_total', 'counter', ['reason']],
  ['sidegate_config_last_reload_successful', 'gauge', []],
  ['sidegate_config_last_reload_success_timestamp_seconds', 'gauge', []],
  ['sidegate_build_info', 'gauge', ['version', 'node_version', 'commit']],
]

const testFamilies = (t: Test, exposition: Exposition, familyOf: (name: string, type: string) => string): void => {
  t.equal(exposition.types.size, contract.length)
  for (const [name, type, labels] of contract) {
    t.equal(exposition.types.get(familyOf(name, type)), type, name)
    t.ok(exposition.helps.get(familyOf(name, type)), `${name} has a help text`)
    const sample = exposition.samples.find(one => one.name === (type === 'histogram' ? `${name}_count` : name))
    t.same(Object.keys(sample?.labels ?? {}).sort(), [...labels].sort(), `${name} has its labels and no other`)
  }
}

t.test('the text exposition holds every metric of the contract, with its type, help and labels', async t => {
  const { contentType, body } = await observeEverything().expose('text')

  t.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8')
  testFamilies(t, parseExposition(body), name => name)
})

t.test(
  "the text exposition is what Prometheus's own tool takes, with nothing to say of its names and units",
  async t => {
    const { body } = await observeEverything().expose('text')

    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' })

    t.same({ status, stderr }, { status: 0, stderr: '' })
  },
)

t.test(
  'the OpenMetrics exposition holds the same, names counters without their suffix, and has an end marker',
  async t => {
    const { contentType, body } = await observeEverything().expose('openmetrics')

    t.match(contentType, /^application\/openmetrics-text; version=1\.0\.0; charset=utf-8$/)
    t.ok(body.endsWith('\n# EOF\n'))
    testFamilies(t, parseExposition(body), (name, type) => (type === 'counter' ? name.replace(/_total$/, '') : name))
  },
)

t.test('the first bucket of the overhead is 50 microseconds', async t => {
  t.equal(metrics.overhead.buckets[0], 0.00005)
})
