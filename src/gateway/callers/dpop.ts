import { OAuthError } from '../../errors.ts'
import type { Reply } from '../../http/reply.ts'
import { isCertificateOf } from '../../oauth/confirmation.ts'
import type { AccessTokenRecord } from '../../stores/ports.ts'
import type { Exchange, Outcome } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { refuse } from '../refusal.ts'
import { acceptToken, isToken68, malformedToken, notGood, notProven, refuseToken } from './access-token.ts'
import { challenges } from './challenge.ts'
import type { CallerDeps } from './prove-caller.ts'

/** Proves the caller by an access token of the scheme DPoP. */
export type KeyHolderProof = (exchange: Exchange, operation: MeteredOperation, token: string) => Promise<Outcome>

/**
 * An access token bound to a key, with the proof that its holder sent this request (RFC 9449 section 7). The proof comes
 * before everything else that the token could tell: without it the token may be a stolen one.
 */
export const proveKeyHolder =
  (deps: CallerDeps): KeyHolderProof =>
  async (exchange, operation, text) => {
    const token = await deps.authorizationServer.verifyAccessToken(text)
    if (token === undefined && !isToken68(text)) return malformedToken(exchange, 'DPoP')
    if (token === undefined) return refuseToken(deps, exchange, operation, 'DPoP', notGood)
    const jkt = keyOf(token)
    if (jkt === undefined) return refuseToken(deps, exchange, operation, 'DPoP', 'not bound to a key')
    if (!isCertificateOf(token.cnf, () => exchange.context.clientCertificate()?.certificate)) {
      return refuseToken(deps, exchange, operation, 'DPoP', notProven)
    }
    const refusal = await proveKey(deps, exchange, operation, { text, jkt })
    return refusal ?? acceptToken(deps, exchange, operation, 'DPoP', token)
  }

const keyOf = ({ cnf }: AccessTokenRecord): string | undefined => (cnf && 'jkt' in cnf ? cnf.jkt : undefined)

/** Answers nothing where the proof is good; a fresh nonce then goes out with whatever is answered. */
const proveKey = async (
  { authorizationServer }: CallerDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  token: { readonly text: string; readonly jkt: string },
): Promise<Reply | undefined> => {
  const { req, fields } = exchange.context
  const { path = '' } = exchange.target ?? {}
  try {
    const { headers } = await authorizationServer.verifyProof({
      dpop: fields.dpop,
      method: req.method ?? '',
      path,
      token,
    })
    exchange.answerFields = Object.entries(headers).flat()
    return undefined
  } catch (error) {
    if (error instanceof OAuthError) return refuseProof(exchange, operation, error)
    throw error
  }
}

/** RFC 9449 sections 7.1 and 9. Not counted as a guess: the token is good, and a signature cannot be guessed. */
const refuseProof = (exchange: Exchange, operation: MeteredOperation, refusal: OAuthError): Reply => {
  operation.meter.credential('dpop', 'refused')
  const error = refusal.code === 'use_dpop_nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof'
  const headers = challenges(operation, 'DPoP', { error, error_description: refusal.message })
  return refuse(exchange, 'PROOF_REFUSED', { headers: [...headers, ...Object.entries(refusal.headers).flat()] })
}
