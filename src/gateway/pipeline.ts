import type { Audit } from '../telemetry/audit.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import { authenticate } from './authn/authenticate.ts'
import type { AuthenticationDeps } from './authn/authentication-step.ts'
import { spendProof } from './authn/dpop.ts'
import type { Exchange, Outcome, Step } from './exchange.ts'
import { allowResponse } from './forward-auth/allow-response.ts'
import { forward } from './forwarding/forward.ts'
import type { ForwardDeps } from './forwarding/forward-deps.ts'
import type { MeteredOperation } from './operation-metrics.ts'
import { chargePlan, type PlanDeps } from './plan-limit.ts'
import { matchRoute } from './routing/match-route.ts'
import type { Routes } from './routing/route-table.ts'
import { serveOperation } from './serve.ts'
import { signIdentity } from './sign-identity.ts'

export interface PipelineDeps {
  readonly routes: Routes<MeteredOperation>
  readonly caller: AuthenticationDeps
  readonly plan: PlanDeps
  readonly forward: ForwardDeps
  readonly recorder: Recorder
  readonly audit: Audit
}

/**
 * The steps of a request, in order. The caller is authenticated before the plan is charged, so that no client uses up
 * another client's plan by naming it. The plan is charged before anything expensive is done. Single-use proofs are
 * consumed only for requests that the plan has admitted.
 */
export const pipeline = (deps: PipelineDeps): readonly Step[] => [
  matchRoute(deps.routes),
  authenticate(deps.caller),
  chargePlan(deps.plan),
  spendProof(deps.caller),
  serveOperation(deps.caller.authorizationServer, deps.recorder, deps.audit),
  signIdentity(deps.caller.authorizationServer),
  forward(deps.forward),
  allowResponse,
]

/** Runs the steps until one returns an outcome. The event loop takes another turn only if a step waits. */
export const run = (steps: readonly Step[], exchange: Exchange, from = 0): Outcome | Promise<Outcome> => {
  for (let i = from; i < steps.length; i++) {
    const outcome = (steps[i] as Step)(exchange)
    if (outcome instanceof Promise) {
      return outcome.then(settled => (settled === undefined ? run(steps, exchange, i + 1) : settled))
    }
    if (outcome !== undefined) return outcome
  }
  return undefined
}
