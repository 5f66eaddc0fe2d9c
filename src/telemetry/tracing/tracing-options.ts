import { nodeHttp } from '../../node-http.ts'
import { Secret } from '../../secret.ts'
import type { BatchSpanProcessorOptions } from './batch-span-processor.ts'
import type { OtlpTransportOptions } from './otlp-http-transport.ts'
import type { Resource } from './otlp-json.ts'
import type { Sampling } from './sampler.ts'

/** The traces that are recorded, and the collector that they are sent to. */
export interface TracingOptions {
  readonly sampling: Sampling
  readonly collector: OtlpTransportOptions
  readonly exporter: BatchSpanProcessorOptions
}

/**
 * Reads the standard environment variables of OpenTelemetry (OpenTelemetry specification, "Environment Variable
 * Specification" and "OTLP Exporter Configuration"). A variable with an empty value counts as not set.
 * @returns undefined if no collector is named, or tracing is disabled
 * @throws Error one line for a person: which variable is wrong, and which value would be right
 */
export const readTracingOptions = (env: NodeJS.ProcessEnv): TracingOptions | undefined => {
  const endpoint = readEndpoint(env)
  if (endpoint === undefined || isOff(env)) return undefined
  if (!isExported(env)) return undefined
  demandJson(env)
  return {
    sampling: readSampling(env),
    collector: { endpoint, headers: readHeaders(env), timeoutMs: readTimeoutMs(env) },
    exporter: {
      resource: readResource(env),
      everyMs: count('OTEL_BSP_SCHEDULE_DELAY', env.OTEL_BSP_SCHEDULE_DELAY, 5_000),
      batchSize: count('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512),
      queueSize: count('OTEL_BSP_MAX_QUEUE_SIZE', env.OTEL_BSP_MAX_QUEUE_SIZE, 2_048),
      lastDeliveryMs: 3_000,
    },
  }
}

const isOff = (env: NodeJS.ProcessEnv): boolean => env.OTEL_SDK_DISABLED?.toLowerCase() === 'true'

/** The URL for traces is used as it is; to the URL for all signals the path of traces is appended. */
const readEndpoint = (env: NodeJS.ProcessEnv): URL | undefined => {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (own) return toUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own)
  if (!base) return undefined
  const url = toUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return url
}

const toUrl = (name: string, text: string): URL => {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Error(`${name} must be an http or https URL, such as http://127.0.0.1:4318`)
}

const isExported = (env: NodeJS.ProcessEnv): boolean => {
  const exporter = env.OTEL_TRACES_EXPORTER || 'otlp'
  if (exporter === 'otlp' || exporter === 'none') return exporter === 'otlp'
  throw new Error('OTEL_TRACES_EXPORTER must be otlp or none; Sidegate has no other')
}

const demandJson = (env: NodeJS.ProcessEnv): void => {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL
  const protocol = own || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/json'
  if (protocol === 'http/json') return
  const name = own ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL' : 'OTEL_EXPORTER_OTLP_PROTOCOL'
  throw new Error(
    `${name} must be http/json; Sidegate speaks no other form of OTLP, and collectors take it on port 4318`,
  )
}

/**
 * The sampling of traces that begin here if Sidegate records none itself, so that services behind it can: as the
 * sampler of OpenTelemetry would decide.
 * @throws Error one line for a person, as `readTracingOptions` does
 */
export const readNewTraceSampling = (env: NodeJS.ProcessEnv): Sampling => (isOff(env) ? everything : readSampling(env))

const everything: Sampling = { ratio: 1, followsParent: true }

/** `parentbased_always_on` if no sampler is set. */
const readSampling = (env: NodeJS.ProcessEnv): Sampling => {
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  const followsParent = name.startsWith('parentbased_')
  switch (followsParent ? name.slice('parentbased_'.length) : name) {
    case 'always_on':
      return { ratio: 1, followsParent }
    case 'always_off':
      return { ratio: 0, followsParent }
    case 'traceidratio':
      return { ratio: readRatio(env.OTEL_TRACES_SAMPLER_ARG), followsParent }
    default:
      throw new Error(
        'OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of them behind parentbased_',
      )
  }
}

const readRatio = (text: string | undefined): number => {
  const ratio = text ? Number(text) : 1
  if (ratio >= 0 && ratio <= 1) return ratio
  throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, such as 0.05')
}

const readTimeoutMs = (env: NodeJS.ProcessEnv): number => {
  const common = count('OTEL_EXPORTER_OTLP_TIMEOUT', env.OTEL_EXPORTER_OTLP_TIMEOUT, 10_000)
  return count('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, common)
}

/** The largest number of milliseconds that a timer can wait for. */
const largestCount = 2 ** 31 - 1

const count = (name: string, text: string | undefined, otherwise: number): number => {
  const value = text ? Number(text) : otherwise
  if (Number.isInteger(value) && value > 0 && value <= largestCount) return value
  throw new Error(`${name} must be a whole number from 1 to ${largestCount}`)
}

/** Variables for traces take precedence over those for all signals. */
const readHeaders = (env: NodeJS.ProcessEnv): OtlpTransportOptions['headers'] => ({
  ...toHeaders('OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS),
  ...toHeaders('OTEL_EXPORTER_OTLP_TRACES_HEADERS', env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
})

/** No message repeats a value, because it may be a key. */
const toHeaders = (name: string, text: string | undefined): OtlpTransportOptions['headers'] => {
  const pairs = parsePairs(name, text)
  try {
    for (const [field, value] of pairs) {
      nodeHttp().validateHeaderName(field)
      nodeHttp().validateHeaderValue(field, value)
    }
  } catch {
    throw new Error(`${name} must hold names and values of HTTP header fields`)
  }
  return Object.fromEntries(pairs.map(([field, value]) => [field.toLowerCase(), new Secret(value)]))
}

const readResource = (env: NodeJS.ProcessEnv): Resource => ({
  'service.name': 'sidegate',
  ...Object.fromEntries(parsePairs('OTEL_RESOURCE_ATTRIBUTES', env.OTEL_RESOURCE_ATTRIBUTES)),
  ...(env.OTEL_SERVICE_NAME && { 'service.name': env.OTEL_SERVICE_NAME }),
})

/** `name=value,name=value`, percent-encoded. @throws Error if it is not, without repeating it */
const parsePairs = (name: string, text = ''): readonly (readonly [string, string])[] =>
  text
    .split(',')
    .filter(part => part.trim() !== '')
    .map(part => {
      const equals = part.indexOf('=')
      const [key, value] = [part.slice(0, equals).trim(), decoded(part.slice(equals + 1).trim())]
      if (equals > 0 && key !== '' && value !== undefined) return [key, value]
      throw new Error(`${name} must be name=value pairs with commas between them, values percent-encoded`)
    })

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
