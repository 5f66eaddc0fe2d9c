import type { BatchedCharge, BatchedVerdict, ClientPart, ClientSnapshot, Revocation } from '../app.ts'
import type { AuditEntry } from '../telemetry/audit.ts'
import type { MetricChanges } from '../telemetry/recorder.ts'

/**
 * A configuration as it is sent from the primary to a worker: plain JSON, with its secrets in the clear. It is sent
 * through the channel between the two processes, and never through arguments or the environment.
 */
export interface EncodedConfig {
  readonly config: unknown
  readonly clients: ClientSnapshot
}

/** The messages of a worker to its primary. Plain data, because they cross a process boundary as JSON. */
export type WorkerMessage =
  /** The event loop of the worker is running. */
  | { readonly type: 'heartbeat' }
  /** The worker has loaded its code and asks for the configuration. */
  | { readonly type: 'loaded' }
  /** The worker can serve and asks for its listener. */
  | { readonly type: 'started' }
  /** The worker cannot serve, and exits. */
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'listening'; readonly slot: number }
  /** The changes of the worker's metrics; with `asked` they answer the `report` of that id. */
  | { readonly type: 'metrics'; readonly changes: MetricChanges | undefined; readonly asked?: number }
  /** Plan charges that the primary's count decides (embedded store). */
  | { readonly type: 'charges'; readonly id: number; readonly charges: readonly BatchedCharge[] }
  /** Whether the worker reaches the store; `what` names the part that noticed. */
  | { readonly type: 'store'; readonly what: 'store' | 'limiter'; readonly up: boolean; readonly reason?: string }
  /** The worker has built a proposed configuration, or cannot: then `refusal` is the reason, in one line. */
  | { readonly type: 'prepared'; readonly id: number; readonly refusal?: string }
  /** Changed certificate files cannot be used; `content` identifies their content. */
  | { readonly type: 'certificate'; readonly reason: string; readonly content: string }
  /** The worker has found a change that an operator made in the store; `id` is the same in every worker. */
  | { readonly type: 'change'; readonly id: string; readonly entry: AuditEntry }
  /** This worker has written these revocations to the store; the primary tells the other workers. */
  | { readonly type: 'revoked'; readonly revocations: readonly Revocation[] }

/** The messages of the primary to a worker. */
export type PrimaryMessage =
  /** Some clients of the configuration that follows. */
  | { readonly type: 'clients'; readonly part: ClientPart }
  /** Serve this configuration: the first one, or the one that was committed while the worker started. */
  | { readonly type: 'configure'; readonly config: EncodedConfig }
  /** Build this configuration beside the one that is served. */
  | { readonly type: 'propose'; readonly id: number; readonly config: EncodedConfig }
  /** Serve the proposed configuration, because every worker could build it. */
  | { readonly type: 'commit'; readonly id: number }
  /** Drop the proposed configuration, because a worker could not build it. */
  | { readonly type: 'abort'; readonly id: number }
  /** Accept connections from this slot's socket; the message carries its handle. */
  | { readonly type: 'listen'; readonly slot: number }
  /** Accept connections of the private listener, which all workers share; the message carries its handle. */
  | { readonly type: 'listen-privately' }
  /** Stop accepting for this slot, whose own worker serves again. */
  | { readonly type: 'release'; readonly slot: number }
  | { readonly type: 'verdicts'; readonly id: number; readonly verdicts: readonly BatchedVerdict[] }
  /** Refuse the tokens that another worker has revoked, without waiting for the store's feed. */
  | { readonly type: 'revoked'; readonly revocations: readonly Revocation[] }
  /** Report the changes of the metrics now. */
  | { readonly type: 'report'; readonly id: number }
  /** The number of pods that share the store, and the index of this pod. */
  | { readonly type: 'pods'; readonly count: number; readonly index: number }
  /**
   * Another worker accepts in place of this one: stop accepting, end each connection after its next response, and exit
   * 0 by the timeout.
   */
  | { readonly type: 'retire'; readonly timeoutMs: number }
  /** Responses end their connections from now on. */
  | { readonly type: 'drain' }
  /** Stop accepting, finish the requests in flight, and exit 0. */
  | { readonly type: 'stop' }

/** The environment variables by which the primary configures a worker when it forks it. */
export const workerEnvironment = {
  slot: 'SIDEGATE_WORKER_SLOT',
} as const
