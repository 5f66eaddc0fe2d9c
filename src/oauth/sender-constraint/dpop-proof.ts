import { createHash, type KeyObject } from 'node:crypto'
import { OAuthError } from '../../errors.ts'
import { ownMember } from '../../own-member.ts'
import type { JsonObject } from '../base64url.ts'
import { type CompactJws, isSignedBy, parseJws } from '../client-keys/jws.ts'
import { fitsAlg, toPublicKeys } from '../client-keys/public-keys.ts'
import { strongSigningAlgs } from '../protocol.ts'
import { toTargetUri } from './target-uri.ts'

/** The algorithms of proofs: `dpop_signing_alg_values_supported`. */
export const proofAlgs = strongSigningAlgs

/** The request that the proof must be for. */
export interface ProvenRequest {
  /** Every `DPoP` header, in order. */
  readonly dpop: readonly string[]
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** At a protected resource: the access token of the request, and the thumbprint of the key that it is bound to. */
  readonly token?: { readonly text: string; readonly jkt: string }
}

/** The content of a proof that fits its request. It is not proven until `requireSignature` has passed. */
export interface Proof {
  /** The RFC 7638 thumbprint of the key in the proof. */
  readonly jkt: string
  readonly jti: string
  readonly iatSec: number
  readonly nonce: string | undefined
  readonly jws: CompactJws
  readonly key: KeyObject
}

/** How long a proof is valid. RFC 9449 section 11.1 recommends seconds or minutes. */
export const proofLifetimeSec = 60
/** How far a client's clock may be ahead (FAPI 2.0 Security Profile section 5.3.2.1). */
export const clockSkewSec = 10

/** A proof with a key of 4096 bits has 2500 characters. A much longer one would only be sent to consume CPU time. */
const maxProofLength = 4096

/**
 * The checks of RFC 9449 section 4.3 that need only the proof and its request, except the signature.
 * `dpop-proof-check.ts` checks the nonce; the caller checks the `jti`.
 * @param origin of the issuer: the request was sent to it, whatever its Host header contains
 * @throws OAuthError invalid_dpop_proof
 */
export const readProof = (request: ProvenRequest, origin: string, nowMs: number): Proof => {
  const jws = requireJws(requireOne(request.dpop))
  const { header, payload } = jws
  requireRequest(payload, request, origin)
  const iatSec = requireFresh(payload, nowMs)
  const jti = requireText(payload.jti, 'The DPoP proof has no jti')
  const jwk = requireJwk(header)
  const jkt = thumbprintOf(jwk)
  if (request.token && request.token.jkt !== jkt) throw invalidProof('The access token is bound to another key')
  return { jkt, jti, iatSec, nonce: nonceOf(payload), jws, key: requireKey(jwk, jws) }
}

/**
 * Checks that the key in the proof signed it, which takes longer than all the other checks together.
 * @throws OAuthError invalid_dpop_proof
 */
export const requireSignature = ({ jws, key }: Proof): void => {
  if (!isSignedBy(jws, key)) throw unsigned()
}

/** @param description as `OAuthError` has it */
export const invalidProof = (description: string): OAuthError => new OAuthError('invalid_dpop_proof', description)

const requireOne = (lines: readonly string[]): string => {
  const [text, ...others] = lines
  if (text === undefined) throw invalidProof('The DPoP proof is missing')
  // An intermediary may have joined two headers with a comma.
  if (others.length > 0 || text.includes(',')) throw invalidProof('There is more than one DPoP proof')
  if (text.length > maxProofLength) throw invalidProof('The DPoP proof is too long')
  return text
}

const requireJws = (text: string): CompactJws => {
  const jws = parseJws(text)
  if ('fault' in jws) throw jws.fault === 'alg' ? unsigned() : invalidProof('The DPoP proof is not a signed JWT')
  return jws
}

const requireRequest = (claims: JsonObject, { method, path, token }: ProvenRequest, origin: string): void => {
  if (claims.htm !== method) throw invalidProof('The htm of the DPoP proof is not the method of this request')
  const htu = typeof claims.htu === 'string' ? toTargetUri(claims.htu) : undefined
  if (htu === undefined || htu !== toTargetUri(origin + path)) {
    throw invalidProof('The htu of the DPoP proof is not the URI of this request')
  }
  if (token && claims.ath !== sha256(token.text)) {
    throw invalidProof('The ath of the DPoP proof is not the hash of the access token')
  }
}

const requireFresh = ({ iat, exp, nbf }: JsonObject, nowMs: number): number => {
  if (typeof iat !== 'number') throw invalidProof('The DPoP proof has no iat')
  const nowSec = nowMs / 1000
  if (nowSec - iat >= proofLifetimeSec || iat - nowSec > clockSkewSec) {
    throw invalidProof('The iat of the DPoP proof is too far from now')
  }
  const isOver = exp !== undefined && !(typeof exp === 'number' && exp > nowSec - clockSkewSec)
  const isToCome = nbf !== undefined && !(typeof nbf === 'number' && nbf <= nowSec + clockSkewSec)
  if (isOver || isToCome) throw invalidProof('The DPoP proof is not valid at this time, by its exp or nbf')
  return iat
}

const nonceOf = ({ nonce }: JsonObject): string | undefined =>
  nonce === undefined ? undefined : requireText(nonce, 'The nonce of the DPoP proof is not a string')

const requireText = (value: unknown, description: string): string => {
  if (typeof value !== 'string' || value === '') throw invalidProof(description)
  return value
}

/** The public key in the header. The type must be that of a DPoP proof. */
const requireJwk = ({ typ, jwk }: JsonObject): JsonObject => {
  const isProof = typeof typ === 'string' && /^(application\/)?dpop\+jwt$/i.test(typ)
  if (!isProof || typeof jwk !== 'object' || jwk === null || privateMembers.some(name => Object.hasOwn(jwk, name)))
    throw unsigned()
  return jwk as JsonObject
}

/**
 * RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1. A private key that was sent is no longer secret, so its signature proves
 * nothing.
 */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

const requireKey = (jwk: JsonObject, { alg }: CompactJws): KeyObject => {
  const [found] = toPublicKeys({ keys: [jwk] })
  const isFor = (found?.alg ?? alg) === alg
  const isTaken = proofAlgs.some(known => known === alg)
  if (!found || !isFor || !isTaken || !fitsAlg(alg, found.key)) throw unsigned()
  return found.key
}

/** RFC 7638 section 3. */
const thumbprintOf = (jwk: JsonObject): string => {
  const members = thumbprintMembers.get(jwk.kty)?.map(name => [name, ownMember(jwk, name)])
  if (!members?.every(([, value]) => typeof value === 'string')) throw unsigned()
  return sha256(JSON.stringify(Object.fromEntries(members)))
}

/** RFC 7638 section 3.2 and RFC 8037 section 2, in their order. */
const thumbprintMembers: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['EC', ['crv', 'kty', 'x', 'y']],
  ['OKP', ['crv', 'kty', 'x']],
  ['RSA', ['e', 'kty', 'n']],
])

const unsigned = (): OAuthError => invalidProof('The typ, alg, jwk or signature of the DPoP proof is wrong')

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')
