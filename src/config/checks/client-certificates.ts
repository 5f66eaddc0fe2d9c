import type { ClientAuthMethod } from '../../oauth/clients/metadata.ts'
import { type ConfigSection, isInvalid } from '../parse/config-section.ts'
import type { ParsedClient, ParsedConfig } from '../parse/parsed-config.ts'
import { type CertificateSource, certificateSources } from '../resolve/client-certificate-sources.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** Checks that the certificates by which clients authenticate, or to which tokens are bound, can reach Sidegate. */
export const checkCertificates = (parsed: ParsedConfig): readonly Fault[] => {
  const { topLevel, clients } = parsed
  // If one of these fields is invalid, the sources are not known.
  if (sourceFields.some(field => isInvalid(topLevel.invalidPaths, field))) return []
  const sources = certificateSources(topLevel.value)
  const isThroughProxyAlone = sources.every(({ by }) => by === 'header')
  return [
    ...clients.flatMap(client => checkCertificate(client, sources)),
    ...(isThroughProxyAlone ? contradiction(parsed) : []),
  ]
}

/** Checks that the certificate of one client can. */
export const checkCertificate = (
  client: ConfigSection<ParsedClient>,
  sources: readonly CertificateSource[],
): readonly Fault[] => applyRules(rules, client, { client: client.value, sources })

const sourceFields = ['tls', 'trustedProxies', 'clientCertificateHeader'] as const
const method = 'token_endpoint_auth_method'

interface Facts {
  readonly client: ParsedClient
  readonly sources: readonly CertificateSource[]
}

const rules: readonly Rule<Facts>[] = [
  {
    reads: [method],
    check: ({ client, sources }) => {
      if (
        client[method] === 'tls_client_auth' &&
        sources.length > 0 &&
        !sources.some(source => source.isChainVerified)
      ) {
        return valueAt(
          method,
          'the chains of client certificates are not verified; name the file with their CAs as tls.clientCa_file',
        )
      }
      return isTlsMethod(client[method]) && sources.length === 0 ? valueAt(method, noSource) : undefined
    },
  },
  {
    reads: [method, 'tls_client_certificate_bound_access_tokens'],
    check: ({ client, sources }) =>
      client.tls_client_certificate_bound_access_tokens && !isTlsMethod(client[method]) && sources.length === 0
        ? valueAt('tls_client_certificate_bound_access_tokens', noSource)
        : undefined,
  },
]

const noSource =
  'certificates of clients do not reach Sidegate; set tls.clientAuth: optional, or trustedProxies and the clientCertificateHeader in which they send them'

const isTlsMethod = (name: ClientAuthMethod): boolean =>
  name === 'tls_client_auth' || name === 'self_signed_tls_client_auth'

/** The header does not tell whether the proxy verified the chain, so the proxy must do the same for all clients. */
const contradiction = ({ clients }: ParsedConfig): readonly Fault[] => {
  const named = clients.findIndex(({ value }) => value[method] === 'tls_client_auth')
  const selfSigned = clients.findIndex(({ value }) => value[method] === 'self_signed_tls_client_auth')
  const later = clients[Math.max(named, selfSigned)]
  return named < 0 || selfSigned < 0 || !later
    ? []
    : [{ path: [...later.path, method], at: 'value', message: bothThroughProxy }]
}

const bothThroughProxy =
  'tls_client_auth and self_signed_tls_client_auth exclude each other behind clientCertificateHeader: for the first the proxy must refuse certificates that your CAs have not issued, for the second it must accept them; register one of the clients for private_key_jwt, or terminate TLS in Sidegate (tls)'
