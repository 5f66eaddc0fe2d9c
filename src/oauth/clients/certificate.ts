import type { Clock } from '../../clock.ts'
import type { ClientAuthFailureReason } from '../../errors.ts'
import { findAmong } from '../client-keys/key-source.ts'
import type { ClientKeyring } from '../client-keys/keyring.ts'
import type { MaybePromise } from '../functional.ts'
import { mapMaybe } from '../functional.ts'
import type { ClientCertificate, OAuthRequest } from '../protocol.ts'
import { bearsName } from './certificate-name.ts'
import type { ClientRegistration } from './metadata.ts'

/**
 * The reason why the certificate of a request does not prove the client that the request names (RFC 8705 section 2):
 * by the name that a CA has verified, or by the key of the certificate. Undefined if it does prove the client.
 * @throws OAuthError temporarily_unavailable if the client's keys cannot be fetched
 */
export type CertificateCheck = (
  client: ClientRegistration,
  request: OAuthRequest,
) => MaybePromise<ClientAuthFailureReason | undefined>

export const createCertificateCheck = (keyring: ClientKeyring, clock: Clock): CertificateCheck => {
  const isValidNow = ({ certificate }: ClientCertificate): boolean => {
    const now = clock.nowMs()
    return certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime()
  }
  /** The CA has verified the names in the certificate; the registration defines which name is the client's. */
  const findNameFault = (
    { certificateName }: ClientRegistration,
    presented: ClientCertificate,
  ): ClientAuthFailureReason | undefined => {
    if (!presented.isChainVerified) return 'certificate_untrusted'
    const isNamed = certificateName !== undefined && bearsName(presented.certificate, certificateName)
    return isNamed ? undefined : 'certificate_name'
  }
  /**
   * The sender of the certificate has its key: the TLS handshake has proven that. The certificate is the client's if
   * the key is.
   */
  const findKeyFault = (
    client: ClientRegistration,
    { certificate }: ClientCertificate,
  ): MaybePromise<ClientAuthFailureReason | undefined> => {
    const keys = keyring.find(client)
    if (!keys) return 'certificate_key'
    const { publicKey } = certificate
    return mapMaybe(
      findAmong(keys, found => found.find(({ key }) => key.equals(publicKey))),
      own => (own ? undefined : 'certificate_key'),
    )
  }

  return (client, request) => {
    const method = client.token_endpoint_auth_method
    if (method !== 'tls_client_auth' && method !== 'self_signed_tls_client_auth') return 'auth_method_mismatch'
    const presented = request.clientCertificate
    if (!presented) return 'certificate_missing'
    if (!isValidNow(presented)) return 'certificate_expired'
    return method === 'tls_client_auth' ? findNameFault(client, presented) : findKeyFault(client, presented)
  }
}
