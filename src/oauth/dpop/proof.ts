import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, decodeJwt, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose'
import { OAuthError } from '../../errors.ts'
import { strongSigningAlgs } from '../wire.ts'
import { toTargetUri } from './target-uri.ts'

/** What a proof may be signed with: `dpop_signing_alg_values_supported`. */
export const proofAlgs = strongSigningAlgs

/** The request that a proof has to be made for. */
export interface ProvenRequest {
  /** Every `DPoP` line, in order. */
  readonly dpop: readonly string[]
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** At a protected resource: the access token sent along, and the thumbprint of the key that it is bound to. */
  readonly token?: { readonly text: string; readonly jkt: string }
}

/** What a good proof says. Whether its nonce is fresh and its `jti` new is for `proof-check.ts` to ask. */
export interface Proof {
  /** RFC 7638 thumbprint of the key that signed it. */
  readonly jkt: string
  readonly jti: string
  readonly iatSec: number
  readonly nonce: string | undefined
}

/** How long a proof is good. RFC 9449 section 11.1 asks for seconds or minutes. */
export const proofLifetimeSec = 60
/** How far a client's clock may be ahead (FAPI 2.0 Security Profile section 5.3.2.1). */
export const clockSkewSec = 10

/** A proof with a key of 4096 bits has 2500 characters; a much longer one is made to cost time. */
const longestProof = 4096

/**
 * The checks of RFC 9449 section 4.3 that need nobody but the proof and its request, cheap ones first.
 * @param origin of the issuer: what the request was sent to, whatever its Host says
 * @throws OAuthError invalid_dpop_proof
 */
export const verifyProof = async (request: ProvenRequest, origin: string, nowMs: number): Promise<Proof> => {
  const text = requireOne(request.dpop)
  const claims = readClaims(text)
  requireRequest(claims, request, origin)
  const iatSec = requireFresh(claims, nowMs)
  const jti = requireText(claims.jti, 'The DPoP proof has no jti')
  const jkt = await verifySignature(text, nowMs)
  if (request.token && request.token.jkt !== jkt) throw invalidProof('The access token is bound to another key')
  return { jkt, jti, iatSec, nonce: nonceOf(claims) }
}

/** @param description as `OAuthError` has it */
export const invalidProof = (description: string, cause?: unknown): OAuthError =>
  new OAuthError('invalid_dpop_proof', description, { cause })

const requireOne = (lines: readonly string[]): string => {
  const [text, ...others] = lines
  if (text === undefined) throw invalidProof('The DPoP proof is missing')
  // Two fields may have become one on the way, with a comma between.
  if (others.length > 0 || text.includes(',')) throw invalidProof('There is more than one DPoP proof')
  if (text.length > longestProof) throw invalidProof('The DPoP proof is too long')
  return text
}

const readClaims = (text: string): JWTPayload => {
  try {
    return decodeJwt(text)
  } catch (cause) {
    throw invalidProof('The DPoP proof is no signed JWT', cause)
  }
}

const requireRequest = (claims: JWTPayload, { method, path, token }: ProvenRequest, origin: string): void => {
  if (claims.htm !== method) throw invalidProof('The htm of the DPoP proof is not the method of this request')
  const htu = typeof claims.htu === 'string' ? toTargetUri(claims.htu) : undefined
  if (htu === undefined || htu !== toTargetUri(origin + path)) {
    throw invalidProof('The htu of the DPoP proof is not the URI of this request')
  }
  if (token && claims.ath !== sha256(token.text)) {
    throw invalidProof('The ath of the DPoP proof is not the hash of the access token')
  }
}

const requireFresh = ({ iat }: JWTPayload, nowMs: number): number => {
  if (typeof iat !== 'number') throw invalidProof('The DPoP proof has no iat')
  const ageSec = nowMs / 1000 - iat
  if (ageSec >= proofLifetimeSec || ageSec < -clockSkewSec) {
    throw invalidProof('The iat of the DPoP proof is too far from now')
  }
  return iat
}

const nonceOf = ({ nonce }: JWTPayload): string | undefined =>
  nonce === undefined ? undefined : requireText(nonce, 'The nonce of the DPoP proof is no text')

const requireText = (value: unknown, description: string): string => {
  if (typeof value !== 'string' || value === '') throw invalidProof(description)
  return value
}

/** Whether the proof is signed by the public key in its header; the thumbprint of that key. */
const verifySignature = async (text: string, nowMs: number): Promise<string> => {
  try {
    const { protectedHeader } = await jwtVerify(text, EmbeddedJWK, {
      algorithms: [...proofAlgs],
      typ: 'dpop+jwt',
      currentDate: new Date(nowMs),
      clockTolerance: clockSkewSec,
    })
    const jwk = protectedHeader.jwk ?? {}
    if (privateMembers.some(name => name in jwk)) throw new TypeError('the key is not public')
    return await calculateJwkThumbprint(jwk)
  } catch (cause) {
    throw invalidProof('The typ, alg, jwk or signature of the DPoP proof is not right', cause)
  }
}

/** RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1. A key sent around is nobody's secret, whatever it signs. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')
