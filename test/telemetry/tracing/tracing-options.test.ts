import { inspect } from 'node:util'
import t from 'tap'
import { readTracingOptions, type TracingOptions } from '../../../src/telemetry/tracing/tracing-options.ts'

const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

const read = (env: NodeJS.ProcessEnv): TracingOptions => {
  const options = readTracingOptions({ ...base, ...env })
  if (options === undefined) throw new Error('tracing is off')
  return options
}

t.test('tracing is off if no collector is configured or tracing is disabled', async t => {
  const off = [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_SERVICE_NAME: 'edge' },
    { ...base, OTEL_SDK_DISABLED: 'true' },
    { ...base, OTEL_SDK_DISABLED: 'TRUE' },
    { ...base, OTEL_TRACES_EXPORTER: 'none' },
  ]

  for (const env of off) t.equal(readTracingOptions(env), undefined, JSON.stringify(env))
  t.ok(readTracingOptions({ ...base, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' }))
})

t.test('the endpoint for all signals gets the path of traces; the endpoint for traces is used unchanged', async t => {
  const cases = [
    [base, 'http://127.0.0.1:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.test/base/' }, 'https://otel.test/base/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.test/base?k=1' }, 'https://otel.test/base/v1/traces?k=1'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://otel.test/own' }, 'http://otel.test/own'],
  ] as const

  for (const [env, endpoint] of cases) t.equal(read(env).collector.endpoint.href, endpoint)
})

t.test('missing variables have the defaults of OpenTelemetry', async t => {
  t.match(read({}), {
    sampling: { ratio: 1, followsParent: true },
    collector: { headers: {}, timeoutMs: 10_000 },
    exporter: { resource: { 'service.name': 'sidegate' }, everyMs: 5_000, batchSize: 512, queueSize: 2_048 },
  })
})

t.test('each sampler has its name of OpenTelemetry', async t => {
  const cases = [
    ['always_on', undefined, { ratio: 1, followsParent: false }],
    ['always_off', undefined, { ratio: 0, followsParent: false }],
    ['traceidratio', '0.25', { ratio: 0.25, followsParent: false }],
    ['traceidratio', undefined, { ratio: 1, followsParent: false }],
    ['parentbased_always_on', undefined, { ratio: 1, followsParent: true }],
    ['parentbased_always_off', undefined, { ratio: 0, followsParent: true }],
    ['parentbased_traceidratio', '0', { ratio: 0, followsParent: true }],
  ] as const

  for (const [OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, sampling] of cases) {
    t.same(read({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }).sampling, sampling, OTEL_TRACES_SAMPLER)
  }
})

t.test(
  'the resource and the headers are percent-decoded; variables for traces override those for all signals',
  async t => {
    const { exporter, collector } = read({
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other, deployment.environment.name=pr%C3%BCfung ,k8s.pod.name=a=b',
      OTEL_SERVICE_NAME: 'edge',
      OTEL_EXPORTER_OTLP_HEADERS: 'X-Api-Key=common%3D1,x-tenant=a',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-api-key=own',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '3000',
    })

    t.same(exporter.resource, {
      'service.name': 'edge',
      'deployment.environment.name': 'prüfung',
      'k8s.pod.name': 'a=b',
    })
    t.same(
      Object.entries(collector.headers).map(([name, value]) => [name, value.reveal()]),
      [
        ['x-api-key', 'own'],
        ['x-tenant', 'a'],
      ],
    )
    t.equal(collector.timeoutMs, 3000)
  },
)

t.test(
  'the message for an invalid value names the variable, and does not repeat a value that may be a secret',
  async t => {
    const cases = [
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4317' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL/],
      [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'grpc://a' }, /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be an http/],
      [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /^OTEL_EXPORTER_OTLP_PROTOCOL must be http\/json/],
      [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, /^OTEL_EXPORTER_OTLP_PROTOCOL must be http\/json/],
      [
        { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' },
        /^OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must be http\/json/,
      ],
      [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /^OTEL_TRACES_EXPORTER must be otlp or none/],
      [{ OTEL_TRACES_SAMPLER: 'sometimes' }, /^OTEL_TRACES_SAMPLER must be/],
      [{ OTEL_TRACES_SAMPLER: 'parentbased_jaeger_remote' }, /^OTEL_TRACES_SAMPLER must be/],
      [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.1' }, /^OTEL_TRACES_SAMPLER_ARG must be/],
      [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'half' }, /^OTEL_TRACES_SAMPLER_ARG must be/],
      [{ OTEL_EXPORTER_OTLP_TIMEOUT: '10s' }, /^OTEL_EXPORTER_OTLP_TIMEOUT must be a whole number/],
      [{ OTEL_BSP_MAX_QUEUE_SIZE: '0' }, /^OTEL_BSP_MAX_QUEUE_SIZE must be a whole number/],
      [{ OTEL_BSP_SCHEDULE_DELAY: '1e10' }, /^OTEL_BSP_SCHEDULE_DELAY must be a whole number/],
      [{ OTEL_EXPORTER_OTLP_HEADERS: 'x-key' }, /^OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs/],
      [{ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=s3cret%' }, /^OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs/],
      [{ OTEL_EXPORTER_OTLP_HEADERS: 'x key=s3cret' }, /^OTEL_EXPORTER_OTLP_HEADERS must hold names and values/],
      [{ OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=s3cret%0d%0a' }, /^OTEL_EXPORTER_OTLP_TRACES_HEADERS must hold/],
      [{ OTEL_RESOURCE_ATTRIBUTES: '=a' }, /^OTEL_RESOURCE_ATTRIBUTES must be name=value pairs/],
    ] as const

    for (const [env, message] of cases) {
      const error = t.throws(() => read(env), { message })
      t.notMatch(String(error), /s3cret/)
    }
    t.ok(
      read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }),
      'a variable for other signals is ignored',
    )
  },
)

t.test('a key in the headers is never shown', async t => {
  const options = read({ OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=s3cret' })

  t.notMatch(`${inspect(options, { depth: 9 })}${JSON.stringify(options)}`, /s3cret/)
})
