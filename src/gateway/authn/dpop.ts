import { OAuthError } from '../../errors.ts'
import type { Reply } from '../../http/reply.ts'
import type { SingleUse } from '../../oauth/replay-protection.ts'
import { isCertificateOf } from '../../oauth/sender-constraint/confirmation.ts'
import type { ProvenRequest } from '../../oauth/sender-constraint/dpop-proof.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import { refuse } from '../error-response.ts'
import { type Exchange, methodOf, type Outcome, type Step } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import {
  acceptToken,
  countRefused,
  isToken68,
  malformedToken,
  notGood,
  notProven,
  refuseToken,
} from './access-token.ts'
import type { AuthenticationDeps } from './authentication-step.ts'
import { challenges } from './www-authenticate.ts'

/** Authenticates the caller by an access token of the DPoP scheme. Its proof has yet to be checked for replay. */
export type KeyHolderProof = (exchange: Exchange, operation: MeteredOperation, token: string) => Promise<Outcome>

/**
 * Verifies an access token that is bound to a key, with the proof that its holder sent this request (RFC 9449 section
 * 7). The proof is verified before the token's audience and scopes: without a proof the token may be stolen.
 */
export const proveKeyHolder =
  (deps: AuthenticationDeps): KeyHolderProof =>
  async (exchange, operation, text) => {
    const token = await deps.authorizationServer.verifyAccessToken(text)
    if (token === undefined && !isToken68(text)) return malformedToken(exchange, 'DPoP')
    if (token === undefined) return refuseToken(deps, exchange, operation, 'DPoP', notGood)
    const jkt = keyOf(token)
    if (jkt === undefined) return refuseToken(deps, exchange, operation, 'DPoP', 'not bound to a key')
    if (!isCertificateOf(token.cnf, () => exchange.context.clientCertificate()?.certificate)) {
      return refuseToken(deps, exchange, operation, 'DPoP', notProven)
    }
    try {
      const { headers, use } = deps.authorizationServer.verifyProof(toProvenRequest(exchange, text, jkt))
      exchange.answerFields = Object.entries(headers).flat() // every response carries a fresh nonce
      return acceptToken(deps, exchange, operation, 'DPoP', token, [use])
    } catch (error) {
      return refuseProof(deps, exchange, operation, error)
    }
  }

/**
 * Checks that the proof of a key was not used before. This step runs after the plan: a client above its plan costs no
 * store call, and a proof that the plan refused may be sent again.
 */
export const spendProof =
  (deps: AuthenticationDeps): Step =>
  exchange => {
    const { operation, caller } = exchange
    if (operation === undefined || caller?.kind !== 'token' || caller.pendingReplayChecks.length === 0) return undefined
    return spend(deps, exchange, operation, caller.pendingReplayChecks)
  }

const spend = async (
  deps: AuthenticationDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  pendingReplayChecks: readonly SingleUse[],
): Promise<Outcome> => {
  try {
    await deps.authorizationServer.consume(pendingReplayChecks)
    operation.meter.credential('dpop', 'ok')
    return undefined
  } catch (error) {
    return refuseProof(deps, exchange, operation, error)
  }
}

const keyOf = ({ cnf }: AccessTokenRecord): string | undefined => (cnf && 'jkt' in cnf ? cnf.jkt : undefined)

const toProvenRequest = (exchange: Exchange, text: string, jkt: string): ProvenRequest => ({
  dpop: exchange.context.fields.dpop,
  method: methodOf(exchange),
  path: exchange.target?.path ?? '',
  token: { text, jkt },
})

/**
 * Refuses a proof (RFC 9449 sections 7.1 and 9). After too many bad proofs from one address the response is 429, as
 * with bad tokens. A missing nonce is not counted: the client is expected to ask for one so.
 * @throws any error that is not an `OAuthError`
 */
const refuseProof = async (
  deps: AuthenticationDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  refusal: unknown,
): Promise<Reply> => {
  if (!(refusal instanceof OAuthError)) throw refusal
  operation.meter.credential('dpop', 'refused')
  const error = refusal.code === 'use_dpop_nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof'
  const limited = error === 'use_dpop_nonce' ? undefined : await countRefused(deps, exchange)
  const headers = challenges(operation, 'DPoP', { error, error_description: refusal.message })
  return (
    limited ??
    refuse(exchange, 'DPOP_PROOF_INVALID', { headers: [...headers, ...Object.entries(refusal.headers).flat()] })
  )
}
