import type { AuthorizationServer } from '../oauth/index.ts'
import { type OperationMembers, operationMembers } from '../telemetry/access-log.ts'
import { codeClass, codeLabel } from '../telemetry/metric-labels.ts'
import type { CounterCell, GaugeCell, HistogramCell, Recorder } from '../telemetry/recorder.ts'
import { getOrCreate, getOrCreatePair } from './get-or-create.ts'
import { type Operation, operationLabel } from './operation.ts'

/** An operation with its label and its metric cells, so that counting a request needs no lookup. */
export interface MeteredOperation extends Operation {
  readonly label: string
  /** Its names in the access log. */
  readonly members: OperationMembers
  readonly meter: OperationMetrics
  /** Whether its error responses are OAuth's JSON instead of problem documents. */
  readonly speaksOAuth: boolean
  /**
   * The page that a user gets in place of that JSON. Only for operations that browsers call: `authorize` and the login
   * pages.
   */
  readonly refusalPage: RefusalPage | undefined
}

export type RefusalPage = AuthorizationServer['refusalPage']

/** The series of one operation, each created on first use. */
export interface OperationMetrics {
  readonly inFlight: GaugeCell
  /** Counts one request. @param traceId undefined: its trace is not recorded */
  countRequest(
    method: string,
    status: number,
    durationMs: number,
    upstreamMs: number,
    traceId: string | undefined,
  ): void
  credential(credential: string, result: 'ok' | 'missing' | 'refused'): void
  planDecision(plan: string, decision: string): void
  oauthError(error: string): void
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export const operationMetricsOf = (
  operation: Operation,
  recorder: Recorder,
  refusalPage: RefusalPage,
): MeteredOperation => {
  const label = operationLabel(operation)
  const speaksOAuth = operation.target.kind === 'serve'
  const meter = createOperationMetrics(recorder, operation.grouping, operation.version, label)
  // The series is present from the start. It is not set to 0, because after a reload other requests are still being
  // answered.
  meter.inFlight.add(0)
  return {
    ...operation,
    label,
    speaksOAuth,
    refusalPage: isForBrowsers(operation) ? refusalPage : undefined,
    members: operationMembers(operation.grouping, label),
    meter,
  }
}

const isForBrowsers = ({ target }: Operation): boolean =>
  target.kind === 'serve' && (target.serves === 'authorize' || target.serves === 'interaction')

export const createOperationMetrics = (
  recorder: Recorder,
  grouping: string,
  version: string,
  label: string,
): OperationMetrics => {
  const requests = new Map<string, Map<number, CounterCell>>()
  /** By the first digit of the status. */
  const durations: HistogramCell[] = []
  const credentials = new Map<string, Map<string, CounterCell>>()
  const decisions = new Map<string, Map<string, CounterCell>>()
  const errors = new Map<string, CounterCell>()
  const overhead = recorder.histogram('overhead', [grouping])

  const requestsOf = (method: string, status: number): CounterCell =>
    requests.get(method)?.get(status) ??
    getOrCreatePair(requests, method, status, () =>
      recorder.counter('httpRequests', [grouping, version, label, method, codeLabel(status)]),
    )
  const credentialsOf = (credential: string, result: string): CounterCell =>
    credentials.get(credential)?.get(result) ??
    getOrCreatePair(credentials, credential, result, () =>
      recorder.counter('credentialChecks', [grouping, credential, result]),
    )
  const decisionsOf = (plan: string, decision: string): CounterCell =>
    decisions.get(plan)?.get(decision) ??
    getOrCreatePair(decisions, plan, decision, () => recorder.counter('planDecisions', [plan, grouping, decision]))
  const durationOf = (status: number): HistogramCell => {
    const digit = Math.floor(status / 100)
    durations[digit] ??= recorder.histogram('httpRequestDuration', [grouping, label, codeClass(status)])
    return durations[digit]
  }

  return {
    inFlight: recorder.gauge('httpRequestsInFlight', [grouping]),
    countRequest(method, status, durationMs, upstreamMs, traceId) {
      requestsOf(knownMethods.has(method) ? method : 'other', status).add()
      durationOf(status).observe(durationMs / 1000, traceId)
      overhead.observe(Math.max(0, durationMs - upstreamMs) / 1000)
    },
    credential: (credential, result) => credentialsOf(credential, result).add(),
    planDecision: (plan, decision) => decisionsOf(plan, decision).add(),
    oauthError: error => getOrCreate(errors, error, () => recorder.counter('oauthErrors', [label, error])).add(),
  }
}
