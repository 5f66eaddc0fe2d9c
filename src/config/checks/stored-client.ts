import { signingAlgsOf } from '../../oauth/keys/rotation-schedule.ts'
import type { ConfigSection } from '../parse/config-section.ts'
import type { ParsedClient } from '../parse/parsed-config.ts'
import { type CertificateSource, certificateSources } from '../resolve/client-certificate-sources.ts'
import { profileOf } from '../resolve/resolve-client.ts'
import type { SidegateConfig } from '../sidegate-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { checkCertificate } from './client-certificates.ts'
import { checkClient, checkCodes } from './clients.ts'
import { checkFapiClient, findServerLack } from './fapi-profile.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** The parts of a configuration that a client of the store must fit. */
export type StoredClientSetting = Pick<
  SidegateConfig,
  'oauth' | 'plans' | 'operations' | 'tls' | 'trustedProxies' | 'clientCertificateHeader'
>

/** Checks a client of the store by itself and against the configuration, as a client of the file is checked. */
export const checkStoredClient = (
  client: ConfigSection<ParsedClient>,
  client_id: string,
  config: StoredClientSetting,
): readonly Fault[] => {
  const sources = certificateSources({
    ...config,
    tls: config.tls && { clientAuth: config.tls.clientAuth, clientCa_file: config.tls.clientCaFile },
  })
  const facts: Facts = { client: client.value, client_id, config, sources }
  return [
    ...checkClient(client.value, Object.keys(config.plans)),
    ...(servesAuthorize(config) ? [] : checkCodes(client)),
    ...checkCertificate(client, sources),
    ...(profileOf(client.value, config.oauth) === 'fapi2' ? checkFapiClient(client) : []),
    ...applyRules(rules, client, facts),
  ]
}

const servesAuthorize = ({ operations }: StoredClientSetting): boolean =>
  operations.some(({ method, target }) => method === 'GET' && target.kind === 'serve' && target.serves === 'authorize')

interface Facts {
  readonly client: ParsedClient
  readonly client_id: string
  readonly config: StoredClientSetting
  readonly sources: readonly CertificateSource[]
}

const method = 'token_endpoint_auth_method'
const algFields = ['introspection_signed_response_alg', 'access_token_signed_response_alg'] as const

const rules: readonly Rule<Facts>[] = [
  {
    reads: ['client_id'],
    check: ({ client, client_id }) =>
      client.client_id === client_id
        ? undefined
        : valueAt('client_id', 'differs from the client_id that it is stored under'),
  },
  {
    reads: ['client_secret', 'client_secrets'],
    check: ({ client }) =>
      client.client_secret || client.client_secrets.some(secret => secret.client_secret)
        ? valueAt('client_secret', 'the store may contain only digests of secrets; rotate the secret')
        : undefined,
  },
  {
    reads: ['client_id'],
    check: ({ client_id, config }) =>
      config.oauth.users.some(({ sub }) => sub === client_id)
        ? valueAt(
            'client_id',
            'equals the sub of a user, so the user could be mistaken for this client (RFC 9700 section 4.15)',
          )
        : undefined,
  },
  {
    reads: ['introspects'],
    check: ({ client: { introspects }, config }) => {
      if (typeof introspects === 'string') return undefined
      const known = new Set(config.oauth.resources.map(({ resource }) => resource))
      return introspects.every(resource => known.has(resource))
        ? undefined
        : valueAt('introspects', 'names a resource that is not in the configuration')
    },
  },
  ...algFields.map(
    (field): Rule<Facts> => ({
      reads: [field],
      check: ({ client, config }) => {
        const [alg, known] = [client[field], signingAlgsOf(config.oauth)]
        return alg === undefined || known.includes(alg)
          ? undefined
          : valueAt(field, `the configuration uses no key for ${alg}; leave it out`)
      },
    }),
  ),
  {
    reads: ['profile', 'grant_types'],
    check: ({ client, config }) => {
      if (profileOf(client, config.oauth) !== 'fapi2') return undefined
      const lack = findServerLack(config.oauth, client)
      return lack === undefined ? undefined : valueAt('profile', lack)
    },
  },
  {
    // The header does not tell whether the proxy verified the chain. The methods of the clients in the file tell what
    // the proxy does.
    reads: [method],
    check: ({ client, config, sources }) => {
      const isByCertificate = client[method].endsWith('tls_client_auth')
      const isThroughProxyAlone = sources.length > 0 && sources.every(({ by }) => by === 'header')
      const isUsual = config.oauth.clients.internedMetadata.some(terms => terms[method] === client[method])
      return isByCertificate && isThroughProxyAlone && !isUsual
        ? valueAt(
            method,
            'no client of the configuration uses this method through clientCertificateHeader; register this client in the configuration',
          )
        : undefined
    },
  },
]
