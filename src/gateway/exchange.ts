import type { ClientAuthFailureReason } from '../errors.ts'
import type { RequestContext } from '../http/context.ts'
import type { RequestTarget } from '../http/message/request-target.ts'
import type { SampleNewTrace } from '../http/peer/trace-context.ts'
import type { Reply } from '../http/reply.ts'
import type { ProvenClient } from '../oauth/clients/client-auth.ts'
import type { ClientRegistration } from '../oauth/clients/metadata.ts'
import type { Form } from '../oauth/forms/form.ts'
import type { Parameters, UnreadableParameters } from '../oauth/forms/parameters.ts'
import type { OAuthFacts, OAuthRequest } from '../oauth/protocol.ts'
import type { SingleUse } from '../oauth/replay-protection.ts'
import type { AccessTokenRecord } from '../stores/ports/tokens.ts'
import type { MeteredOperation } from './operation-metrics.ts'
import type { ForwardAuthProxy } from './options.ts'
import type { RequestTrace } from './request-trace.ts'
import type { UpstreamFailure } from './upstreams/upstream-failure.ts'

/** The authenticated caller of a request. */
export type Caller =
  | ({ readonly kind: 'client' } & ProvenClient)
  | TokenCaller
  /** The request has no credentials. `named` is the client that an authorization request names. */
  | { readonly kind: 'unknown'; readonly named: ClientRegistration | undefined }

export interface TokenCaller {
  readonly kind: 'token'
  readonly client: ClientRegistration
  readonly token: AccessTokenRecord
  /** Of the proof that came with the token. They are consumed after the plan has admitted the request. */
  readonly pendingReplayChecks: readonly SingleUse[]
}

/**
 * Another proxy asks whether a request of its own may pass (forward auth). Target and operation of the exchange are
 * those of that request.
 */
export interface Check {
  readonly gateway: ForwardAuthProxy
  /** The method of the original request; until that has been read, of the request that asks. */
  readonly method: string
}

/** A request of an OAuth operation, and the parts of it that have been parsed already. */
export interface OAuthExchange {
  readonly request: OAuthRequest
  /** Only for operations that authenticate the client. */
  readonly form?: Form
  /** Only for an authorization request. */
  readonly parameters?: Parameters | UnreadableParameters
}

/** One request, and what the steps of the pipeline have found out about it so far. Each step adds its own members. */
export interface Exchange {
  readonly context: RequestContext
  /** Whether the request asks for a WebSocket. */
  readonly isUpgrade: boolean
  /** Set by `matchRoute`. */
  target: RequestTarget | undefined
  operation: MeteredOperation | undefined
  check: Check | undefined
  /** Set by `authenticate`. */
  caller: Caller | undefined
  oauth: OAuthExchange | undefined
  /**
   * Charges the plan of the client once its code or refresh token has proven its identity. Set by `chargePlan` if the
   * client has only named itself.
   */
  chargeProven: (() => void) | undefined
  /**
   * Fields that the gateway adds to the response, names and values in turn: a nonce by `authenticate`, the plan's state
   * by `chargePlan`.
   */
  answerFields: readonly string[]
  /** Why a client's proof was refused, for the access line alone. Set by the code that writes the refusal. */
  proofFault: ClientAuthFailureReason | undefined
  /** The identity of the caller, signed for the upstream. Set by `signIdentity` if the grouping asks for it. */
  assertion: string | undefined
  /** Set by `serveOperation`. */
  facts: OAuthFacts | undefined
  /** Milliseconds spent waiting for the upstream. Set by `forward`. */
  upstreamMs: number
  /** The status of the upstream's response, also to a WebSocket handshake; 0 before it. */
  upstreamStatus: number
  /** Why the round trip failed. Set by `forward`. */
  upstreamFailure: UpstreamFailure | undefined
  /** Undefined if no traces are recorded. */
  readonly trace: RequestTrace | undefined
  /** Decides the sampled flag of a trace that begins here if no traces are recorded. */
  readonly sampleNewTrace: SampleNewTrace
  /** Set once, when the response has been written or the client has left. */
  finished: boolean
}

/**
 * The result of a step: a response, `taken` if a streamed response is under way, `gone` if the client has left, or
 * undefined to continue.
 */
export type Outcome = Reply | 'taken' | 'gone' | undefined

/** The status of an access line if the client left before the response was complete. It is never sent. */
export const clientGone = 499

/** One stage of the pipeline. A synchronous result costs no turn of the event loop. */
export type Step = (exchange: Exchange) => Outcome | Promise<Outcome>

export const createExchange = (
  context: RequestContext,
  trace?: RequestTrace,
  sampleNewTrace: SampleNewTrace = () => true,
): Exchange => ({
  context,
  isUpgrade: context.request.head.asksForWebSocket,
  target: undefined,
  operation: undefined,
  check: undefined,
  caller: undefined,
  oauth: undefined,
  chargeProven: undefined,
  answerFields: noFields,
  proofFault: undefined,
  assertion: undefined,
  facts: undefined,
  upstreamMs: 0,
  upstreamStatus: 0,
  upstreamFailure: undefined,
  trace,
  sampleNewTrace,
  finished: false,
})

const noFields: readonly string[] = []

/** The method of the request that the steps decide on: the request itself, or the original request of forward auth. */
export const methodOf = ({ check, context }: Exchange): string => (check === undefined ? context.method : check.method)

/** The client that has proven itself, or whose token the caller has sent. */
export const provenClientIdOf = ({ caller }: Exchange): string | undefined =>
  caller === undefined || caller.kind === 'unknown' ? undefined : caller.client.client_id

/** The client that has proven itself, or that an authorization request names without a proof. */
export const claimedClientIdOf = ({ caller }: Exchange): string | undefined =>
  caller?.kind === 'unknown' ? caller.named?.client_id : caller?.client.client_id

/** From now on the request counts as one for this operation. */
export const enter = (exchange: Exchange, operation: MeteredOperation): void => {
  exchange.operation = operation
  operation.meter.inFlight.add(1)
}
