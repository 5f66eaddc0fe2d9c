import type { ProofFault } from '../../errors.ts'
import { clockSpreadMs } from '../../stores/ports/clock-spread.ts'
import { expirySkewSec, verifyClientJwt } from '../client-keys/client-jwt.ts'
import { createFixedKeys } from '../client-keys/key-source.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Heard } from '../hearing.ts'
import type { JwkSet } from '../options.ts'
import { strongSigningAlgs } from '../wire.ts'

/**
 * Why a JWT does not prove that the operator's login calls; undefined where it does: signed with one of its keys, `aud`
 * the issuer, made and ending within five minutes, and never seen before. The reason is a sentence for whoever builds
 * that login, and repeats nothing of the JWT.
 * @throws StoreUnavailableError
 */
export type LoginProof = (token: string) => Promise<string | undefined>

const longestLifeSec = 300
const longestJti = 256

export const createLoginProof = ({ options, store, keys, clock }: OAuthDeps, jwks: JwkSet): LoginProof => {
  const source = createFixedKeys(jwks)
  const rules = { algs: strongSigningAlgs, typ: 'jwt', audiences: [options.issuer], longestLifeSec }
  return async token => {
    const heard = verifyClientJwt(token, source, { ...rules, nowMs: clock.nowMs() })
    if (!('proven' in heard)) return reasonOf(heard)
    const { iat, jti, exp } = heard.proven
    const oldestSec = clock.nowMs() / 1000 - longestLifeSec - expirySkewSec
    if (typeof iat !== 'number' || iat < oldestSec) return 'iat is missing, or more than five minutes ago'
    if (typeof jti !== 'string' || jti === '' || jti.length > longestJti) return reasons.jti_missing
    const use = { id: keys.digest(`login\0${jti}`), untilMs: (exp + expirySkewSec) * 1000 + clockSpreadMs }
    const [isFirst] = await store.replays.spend([use])
    return isFirst === true ? undefined : reasons.jti_used
  }
}

/** The keys are at hand, so that nothing comes later. */
const reasonOf = (heard: Exclude<Heard<unknown>, { readonly proven: unknown }>): string =>
  ('fault' in heard && reasons[heard.fault]) || 'the JWT is not good'

const reasons: Readonly<Partial<Record<ProofFault, string>>> = {
  malformed: 'the text is no signed JWT, or names an extension in crit',
  alg: `alg is none of ${strongSigningAlgs.join(', ')}`,
  type: 'typ names another kind of JWT',
  audience: 'aud is not the issuer as one string',
  expired: 'exp is missing, or has passed',
  too_far: 'exp is more than five minutes away',
  not_yet: 'iat or nbf is in the future',
  jti_missing: `jti is missing, or no text of 1 to ${longestJti} characters`,
  jti_used: 'jti was used before: each call takes a JWT of its own',
  key_unknown: 'no key of the configuration has this kid and alg',
  signature: 'the signature was made by no key of the configuration',
}
