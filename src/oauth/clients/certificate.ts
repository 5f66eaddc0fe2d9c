import type { Clock } from '../../clock.ts'
import { type ClientKeyring, findAmong } from '../client-keys/key-source.ts'
import type { ClientRegistration } from '../options.ts'
import type { MaybePromise } from '../when-known.ts'
import { whenKnown } from '../when-known.ts'
import type { ClientCertificate, OAuthRequest } from '../wire.ts'
import { bearsName } from './certificate-name.ts'

/**
 * Whether the certificate of a request proves the client that the request names (RFC 8705 section 2): by what a CA vouches
 * for, or by its key. False for a client that is registered for another method.
 * @throws OAuthError temporarily_unavailable where the client's keys cannot be had
 */
export type CertificateCheck = (client: ClientRegistration, request: OAuthRequest) => MaybePromise<boolean>

export const createCertificateCheck = (keyring: ClientKeyring, clock: Clock): CertificateCheck => {
  const isValidNow = ({ certificate }: ClientCertificate): boolean => {
    const now = clock.nowMs()
    return certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime()
  }
  /** The CA says who it is; the registration, which of its names is the client's. */
  const isNamed = ({ certificateName }: ClientRegistration, presented: ClientCertificate): boolean =>
    presented.isVouchedFor && certificateName !== undefined && bearsName(presented.certificate, certificateName)

  /** Whoever holds the certificate holds its key: TLS has seen to that. It is the client's if the key is. */
  const isOwn = (client: ClientRegistration, { certificate }: ClientCertificate): MaybePromise<boolean> => {
    const keys = keyring.find(client)
    if (!keys) return false
    const { publicKey } = certificate
    return whenKnown(
      findAmong(keys, found => found.find(({ key }) => key.equals(publicKey))),
      own => own !== undefined,
    )
  }

  return (client, request) => {
    const method = client.token_endpoint_auth_method
    if (method !== 'tls_client_auth' && method !== 'self_signed_tls_client_auth') return false
    const presented = request.clientCertificate
    if (!presented || !isValidNow(presented)) return false
    return method === 'tls_client_auth' ? isNamed(client, presented) : isOwn(client, presented)
  }
}
