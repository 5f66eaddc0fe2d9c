import { expirySkewSec, verifyClientJwt } from '../client-keys/client-jwt.ts'
import { createKeySource } from '../client-keys/key-source.ts'
import type { OAuthDeps } from '../deps.ts'
import type { JwkSet } from '../options.ts'
import { strongSigningAlgs } from '../wire.ts'

/**
 * Whether a JWT proves that the operator's login calls: signed with one of its keys, `aud` the issuer, made now, for
 * five minutes at most, and never seen before.
 * @throws StoreUnavailableError
 */
export type LoginProof = (token: string) => Promise<boolean>

const longestLifeSec = 300
const longestJti = 256

export const createLoginProof = ({ options, store, keys, clock }: OAuthDeps, jwks: JwkSet): LoginProof => {
  const source = createKeySource({ kind: 'jwks', jwks }, clock)
  const rules = { algs: strongSigningAlgs, typ: 'jwt', audiences: [options.issuer], longestLifeSec }
  return async token => {
    const heard = verifyClientJwt(token, source, { ...rules, nowMs: clock.nowMs() })
    if (!('proven' in heard) || typeof heard.proven.iat !== 'number') return false
    const { jti, exp } = heard.proven
    if (typeof jti !== 'string' || jti === '' || jti.length > longestJti) return false
    const use = { id: keys.digest(`login\0${jti}`), untilMs: (exp + expirySkewSec) * 1000 }
    const [isFirst] = await store.replays.spend([use])
    return isFirst === true
  }
}
