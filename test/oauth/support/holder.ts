import { createHash, X509Certificate } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import type { OAuthRequest } from '../../../src/oauth/protocol.ts'
import type { Certificates } from '../../support/certificates.ts'
import { bareJwk, newKey } from '../fapi/support/jws.ts'
import { issuer, type ManualClock } from './authorization-server.ts'
import { newProof } from './proofs.ts'

/** A holder of a DPoP key. */
export interface KeyHolder {
  readonly jkt: string
  /** The part of a token request that proves the key, new each time. */
  prove(clock: ManualClock): Pick<OAuthRequest, 'dpop'>
}

export const newKeyHolder = async (): Promise<KeyHolder> => {
  const key = newKey('ES256')
  return {
    jkt: await calculateJwkThumbprint(bareJwk(key)),
    prove: clock => ({ dpop: [newProof(key, { uri: `${issuer}/token`, nowMs: clock.nowMs() })] }),
  }
}

/** A holder of the key of a certificate. */
export interface CertificateHolder {
  /** `x5t#S256`: RFC 8705 section 3.1. */
  readonly thumbprint: string
  readonly request: Pick<OAuthRequest, 'clientCertificate'>
}

export const toCertificateHolder = ({ cert }: Pick<Certificates['client'], 'cert'>): CertificateHolder => {
  const certificate = new X509Certificate(cert)
  const der = Buffer.from(cert.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  return {
    thumbprint: createHash('sha256').update(der).digest('base64url'),
    request: { clientCertificate: { certificate, isChainVerified: true } },
  }
}
