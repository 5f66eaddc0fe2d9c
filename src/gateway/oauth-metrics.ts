import type { OAuthFacts } from '../oauth/protocol.ts'
import type { CounterCell, Recorder } from '../telemetry/recorder.ts'
import { getOrCreate, getOrCreatePair } from './get-or-create.ts'

/** Counts the results of the authorization server. Each series is created on first use and then found by its labels. */
export type OAuthMetrics = (facts: OAuthFacts) => void

export const createOAuthMetrics = (recorder: Recorder): OAuthMetrics => {
  const issued = new Map<string, Map<string, CounterCell>>()
  const introspections = new Map<string, CounterCell>()
  const interactions = new Map<string, CounterCell>()
  const issuedOf = (grant_type: string, format: string): CounterCell =>
    getOrCreatePair(issued, grant_type, format, () => recorder.counter('tokensIssued', [grant_type, format]))
  const introspectionsOf = (result: string): CounterCell =>
    getOrCreate(introspections, result, () => recorder.counter('introspections', [result]))
  const interactionsOf = (outcome: string): CounterCell =>
    getOrCreate(interactions, outcome, () => recorder.counter('interactions', [outcome]))
  const shed = new Map<string, CounterCell>()
  const shedOf = (kind: string): CounterCell => getOrCreate(shed, kind, () => recorder.counter('shed', [kind]))
  return facts => {
    if (facts.issued) issuedOf(facts.issued.grant_type, facts.issued.format).add()
    if (facts.introspection) introspectionsOf(facts.introspection).add()
    if (facts.shed) shedOf(facts.shed.kind).add(facts.shed.count)
    if (facts.interaction) interactionsOf(facts.interaction).add()
  }
}
