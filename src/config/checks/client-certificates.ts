import type { ClientAuthMethod } from '../../oauth/clients/metadata.ts'
import { type ConfigSection, isInvalid } from '../parse/config-section.ts'
import type { ParsedClient, ParsedConfig } from '../parse/parsed-config.ts'
import { type CertificateWay, certificateWays } from '../resolve/client-certificate-sources.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** Whether the certificates that clients are known by, or bind tokens to, can reach Sidegate as they must. */
export const checkCertificates = (draft: ParsedConfig): readonly Fault[] => {
  const { head, clients } = draft
  // What is wrong with the head leaves open on which ways they come.
  if (wayFields.some(field => isInvalid(head.broken, field))) return []
  const ways = certificateWays(head.value)
  const isThroughProxyAlone = ways.every(({ by }) => by === 'header')
  return [
    ...clients.flatMap(client => checkCertificate(client, ways)),
    ...(isThroughProxyAlone ? contradiction(draft) : []),
  ]
}

/** Whether the certificate of one client can. */
export const checkCertificate = (
  client: ConfigSection<ParsedClient>,
  ways: readonly CertificateWay[],
): readonly Fault[] => applyRules(rules, client, { client: client.value, ways })

const wayFields = ['tls', 'trustedProxies', 'clientCertificateHeader'] as const
const method = 'token_endpoint_auth_method'

interface Facts {
  readonly client: ParsedClient
  readonly ways: readonly CertificateWay[]
}

const rules: readonly Rule<Facts>[] = [
  {
    reads: [method],
    check: ({ client, ways }) => {
      if (client[method] === 'tls_client_auth' && ways.length > 0 && !ways.some(way => way.isChainVerified)) {
        return valueAt(method, 'nobody vouches for certificates; name who does as tls.clientCa_file')
      }
      return isTlsMethod(client[method]) && ways.length === 0 ? valueAt(method, noWay) : undefined
    },
  },
  {
    reads: [method, 'tls_client_certificate_bound_access_tokens'],
    check: ({ client, ways }) =>
      client.tls_client_certificate_bound_access_tokens && !isTlsMethod(client[method]) && ways.length === 0
        ? valueAt('tls_client_certificate_bound_access_tokens', noWay)
        : undefined,
  },
]

const noWay =
  'no certificate of a client reaches Sidegate; set tls.clientAuth: optional, or name trustedProxies and the clientCertificateHeader they send it in'

const isTlsMethod = (name: ClientAuthMethod): boolean =>
  name === 'tls_client_auth' || name === 'self_signed_tls_client_auth'

/** The header does not say whether the proxy verified, so it must do the same for everybody. */
const contradiction = ({ clients }: ParsedConfig): readonly Fault[] => {
  const named = clients.findIndex(({ value }) => value[method] === 'tls_client_auth')
  const selfSigned = clients.findIndex(({ value }) => value[method] === 'self_signed_tls_client_auth')
  const later = clients[Math.max(named, selfSigned)]
  return named < 0 || selfSigned < 0 || !later
    ? []
    : [{ path: [...later.path, method], at: 'value', message: bothThroughProxy }]
}

const bothThroughProxy =
  'tls_client_auth and self_signed_tls_client_auth exclude each other behind clientCertificateHeader: for the one the proxy must refuse certificates that no CA of yours has issued, for the other it must let them through; register one of the clients for private_key_jwt, or end TLS in Sidegate (tls)'
