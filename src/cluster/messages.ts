import type { BatchedCharge, BatchedVerdict, ClientPart, ClientSnapshot, Revocation } from '../app.ts'
import type { AuditEntry } from '../telemetry/audit.ts'
import type { MetricChanges } from '../telemetry/recorder.ts'

/**
 * The configuration on its way from the primary to a worker: what JSON can hold, its secrets in the clear. It goes
 * through the channel between the two, never into arguments or the environment.
 */
export interface EncodedConfig {
  readonly config: unknown
  readonly clients: ClientSnapshot
}

/** What a worker tells its primary. Plain data: it crosses a process boundary as JSON. */
export type WorkerMessage =
  /** Its event loop turns. */
  | { readonly type: 'heartbeat' }
  /** Its code is loaded, and it asks for the configuration. */
  | { readonly type: 'loaded' }
  /** It can serve and asks for its listener. */
  | { readonly type: 'started' }
  /** It cannot serve, and ends. */
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'listening'; readonly slot: number }
  /** What changed in its metrics; `asked` answers a `report`. */
  | { readonly type: 'metrics'; readonly changes: MetricChanges | undefined; readonly asked?: number }
  /** Plan charges to be decided by the primary's count (embedded store). */
  | { readonly type: 'charges'; readonly id: number; readonly charges: readonly BatchedCharge[] }
  /** Whether it reaches the store; `what` says which part of it noticed. */
  | { readonly type: 'store'; readonly what: 'store' | 'limiter'; readonly up: boolean; readonly reason?: string }
  /** The worker has built a proposed configuration, or cannot: then `refusal` says why, in one line. */
  | { readonly type: 'prepared'; readonly id: number; readonly refusal?: string }
  /** Certificate files cannot be renewed to; `content` is the same for the same content. */
  | { readonly type: 'certificate'; readonly reason: string; readonly content: string }
  /** It sees that somebody changed what the store has; `id` is the same whoever sees it. */
  | { readonly type: 'change'; readonly id: string; readonly entry: AuditEntry }
  /** The store has these revocations, which this worker made; the primary tells the other workers. */
  | { readonly type: 'revoked'; readonly revocations: readonly Revocation[] }

/** What the primary tells a worker. */
export type PrimaryMessage =
  /** Some clients of the configuration that comes next. */
  | { readonly type: 'clients'; readonly part: ClientPart }
  /** Serve this configuration: to begin with, or because another was adopted meanwhile. */
  | { readonly type: 'configure'; readonly config: EncodedConfig }
  /** Build this configuration beside the one that is served. */
  | { readonly type: 'propose'; readonly id: number; readonly config: EncodedConfig }
  /** Serve the proposed configuration, because every worker could build it. */
  | { readonly type: 'commit'; readonly id: number }
  /** Drop the proposed configuration, because a worker could not build it. */
  | { readonly type: 'abort'; readonly id: number }
  /** Accept connections of this slot; the listening handle comes with it. */
  | { readonly type: 'listen'; readonly slot: number }
  /** Accept connections of the private listener, which all workers share; its listening handle comes with it. */
  | { readonly type: 'listen-privately' }
  /** Stop accepting for a slot that has its own worker again. */
  | { readonly type: 'release'; readonly slot: number }
  | { readonly type: 'verdicts'; readonly id: number; readonly verdicts: readonly BatchedVerdict[] }
  /** Refuse what another worker has revoked, without waiting for the store's feed to show it. */
  | { readonly type: 'revoked'; readonly revocations: readonly Revocation[] }
  /** Hand over the metrics now. */
  | { readonly type: 'report'; readonly id: number }
  /** How many pods share the store, and which of them this is. */
  | { readonly type: 'pods'; readonly count: number; readonly index: number }
  /** Another one accepts in its place: stop to, end each connection with its next answer, exit 0 by the timeout. */
  | { readonly type: 'retire'; readonly timeoutMs: number }
  /** Answers end their connections from now on. */
  | { readonly type: 'drain' }
  /** Stop accepting, finish what is in flight, exit 0. */
  | { readonly type: 'stop' }

/** How a worker learns what it is; set by the primary when it forks. */
export const workerEnvironment = {
  slot: 'SIDEGATE_WORKER_SLOT',
} as const
