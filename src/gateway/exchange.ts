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

/** The verified answer to "who is calling". */
export type Caller =
  | ({ readonly kind: 'client' } & ProvenClient)
  | TokenCaller
  /** Nobody has proven anything; `named` is the client that an authorization request names. */
  | { readonly kind: 'unknown'; readonly named: ClientRegistration | undefined }

export interface TokenCaller {
  readonly kind: 'token'
  readonly client: ClientRegistration
  readonly token: AccessTokenRecord
  /** Of the proof that came with it; spent when the plan has let it in. */
  readonly pendingReplayChecks: readonly SingleUse[]
}

/** Another gateway asks whether a request of its own may pass: target and operation of the exchange are that request's. */
export interface Check {
  readonly gateway: ForwardAuthProxy
  /** Of the request that is asked about; until that has been read, of the one that asks. */
  readonly method: string
}

/** A request of an OAuth operation, and what of it has been parsed already. */
export interface OAuthExchange {
  readonly request: OAuthRequest
  /** Where a client has to prove itself. */
  readonly form?: Form
  /** Of an authorization request. */
  readonly parameters?: Parameters | UnreadableParameters
}

/** One request and what the steps of the pipeline have found out about it so far; each step adds its own member. */
export interface Exchange {
  readonly context: RequestContext
  /** Whether the request asks for a WebSocket. */
  readonly isUpgrade: boolean
  /** Set by `route`. */
  target: RequestTarget | undefined
  operation: MeteredOperation | undefined
  check: Check | undefined
  /** Set by `caller`. */
  caller: Caller | undefined
  oauth: OAuthExchange | undefined
  /** Charges the client whose code or refresh token proves that it calls. Set by `plan`, where the client only named itself. */
  chargeProven: (() => void) | undefined
  /** What the gateway adds to the answer, names and values in turn: a nonce by `caller`, the plan's state by `plan`. */
  answerFields: readonly string[]
  /** Why a client's proof was refused: for the access line alone. Set by whoever writes the refusal. */
  proofFault: ClientAuthFailureReason | undefined
  /** Who is calling, signed for the upstream; set by `sign`, where the grouping says so. */
  assertion: string | undefined
  /** Set by `serve`. */
  facts: OAuthFacts | undefined
  /** Milliseconds spent waiting for the upstream; set by `forward`. */
  upstreamMs: number
  /** What the upstream answered, a WebSocket handshake too; 0 until then. */
  upstreamStatus: number
  /** Why the round trip failed; set by `forward`. */
  upstreamFailure: UpstreamFailure | undefined
  /** Undefined where traces are not recorded. */
  readonly trace: RequestTrace | undefined
  /** For one that begins here, where they are not. */
  readonly sampleNewTrace: SampleNewTrace
  /** Set once, when the answer is on its way or the client has gone. */
  finished: boolean
}

/** What a step answers: go on, an answer, that the answer is under way already (streamed), or that the client left. */
export type Outcome = Reply | 'taken' | 'gone' | undefined

/** The status of an access line whose client left before the answer was complete; never sent. */
export const clientGone = 499

/** One stage of the pipeline. A synchronous answer costs no turn of the event loop. */
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

/** Of the request that the steps decide on: the one that came, or the one that a gateway asks about. */
export const methodOf = ({ check, context }: Exchange): string => (check === undefined ? context.method : check.method)

/** The client that has proven itself, or whose token the caller has sent. */
export const provenClientIdOf = ({ caller }: Exchange): string | undefined =>
  caller === undefined || caller.kind === 'unknown' ? undefined : caller.client.client_id

/** The client that has proven itself, or that an authorization request names without a proof. */
export const claimedClientIdOf = ({ caller }: Exchange): string | undefined =>
  caller?.kind === 'unknown' ? caller.named?.client_id : caller?.client.client_id

/** The request is one for this operation, and counts as such from now on. */
export const enter = (exchange: Exchange, operation: MeteredOperation): void => {
  exchange.operation = operation
  operation.meter.inFlight.add(1)
}
