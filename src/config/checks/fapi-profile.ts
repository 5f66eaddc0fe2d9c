import type { OAuthOptions } from '../../oauth/options.ts'
import { type ConfigSection, isInvalid } from '../parse/config-section.ts'
import type { ParsedClient, ParsedConfig } from '../parse/parsed-config.ts'
import { profileOf } from '../resolve/resolve-client.ts'
import { algFields } from '../schema/clients.ts'
import type { Fault } from '../source/diagnostic.ts'
import { isLoopback } from '../values/address.ts'
import { issuerOf } from '../values/issuer.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/**
 * Settings that contradict FAPI 2.0 Security Profile Final, sections 5.3 and 5.4, if `profile: fapi2` is set. Options
 * that the profile can turn on by itself are turned on in `resolve-client.ts`. This reports settings that contradict
 * it, and settings that it needs from the operator.
 */
export const checkFapiProfile = (parsed: ParsedConfig): readonly Fault[] => {
  const clients = parsed.clients.filter(({ value }) => profileOf(value, parsed.topLevel.value) === 'fapi2')
  const isDemanded = parsed.topLevel.value.profile === 'fapi2' || clients.length > 0
  return [
    ...(isDemanded ? applyRules(topLevelRules, parsed.topLevel, parsed) : []),
    ...clients.flatMap(checkFapiClient),
    ...lackOfPar(parsed, clients),
  ]
}

/** Settings of a client by itself that contradict the profile. */
export const checkFapiClient = (client: ConfigSection<ParsedClient>): readonly Fault[] =>
  applyRules(clientRules, client, client.value)

/** Settings of the server that contradict the profile, for a client that is not in the file. */
export const findServerLack = (
  { issuer, code, endpoints }: Pick<OAuthOptions, 'issuer' | 'code' | 'endpoints'>,
  { grant_types }: Pick<ParsedClient, 'grant_types'>,
): string | undefined => {
  if (!isHttpsOrLoopback(issuer)) return httpsIssuer
  if (code.lifetimeSec > longestCodeSec) return shortCodes
  return grant_types.includes('authorization_code') && endpoints.par === undefined ? pushedAlone : undefined
}

const topLevelRules: readonly Rule<ParsedConfig>[] = [
  {
    reads: ['issuer', 'listen', 'tls'],
    check: ({ topLevel: { value } }) => {
      const issuer = issuerOf(value)
      if (!isHttpsOrLoopback(issuer)) return valueAt('issuer', httpsIssuer)
      // A configured loopback issuer is meant for tests. A default one is probably an oversight.
      const isForgotten = value.issuer === undefined && !isLoopback(value.listen.host)
      return isForgotten && issuer.startsWith('http:')
        ? valueAt('issuer', `missing, so it would be ${issuer}; ${httpsIssuer}`)
        : undefined
    },
  },
  {
    reads: ['tokens.code.lifetime'],
    check: ({ topLevel: { value } }) =>
      value.tokens.code.lifetime > longestCodeSec ? valueAt(['tokens', 'code', 'lifetime'], shortCodes) : undefined,
  },
]

const httpsIssuer = 'profile: fapi2 requires an https issuer (section 5.2.2); http is only for tests on loopback'

const longestCodeSec = 60
const shortCodes = 'profile: fapi2 requires codes with a lifetime of at most 60s (section 5.3.2.2)'

const pushedAlone =
  'fapi2 requires pushed authorization requests; publish an operation that serves par (section 5.3.2.2)'

const proofFields = ['dpop_bound_access_tokens', 'tls_client_certificate_bound_access_tokens'] as const

const noWeakAlg = (field: (typeof algFields)[number]): Rule<ParsedClient> => ({
  reads: ['profile', field],
  check: client =>
    client[field] === 'RS256'
      ? valueAt(
          field,
          'profile: fapi2 requires ES256, PS256 or EdDSA (section 5.4.1); leave it out, or name one of them',
        )
      : undefined,
})

const clientRules: readonly Rule<ParsedClient>[] = [
  {
    reads: ['profile', 'token_endpoint_auth_method'],
    check: ({ token_endpoint_auth_method: method }) =>
      method === 'none' || method.startsWith('client_secret_')
        ? valueAt(
            'token_endpoint_auth_method',
            'profile: fapi2 requires private_key_jwt, tls_client_auth or self_signed_tls_client_auth (section 5.3.2.1)',
          )
        : undefined,
  },
  {
    reads: ['profile', ...proofFields],
    check: client =>
      proofFields.some(field => client[field])
        ? undefined
        : valueAt(
            'dpop_bound_access_tokens',
            'profile: fapi2 requires sender-constrained tokens (section 5.3.2.1); set dpop_bound_access_tokens or tls_client_certificate_bound_access_tokens to true',
          ),
  },
  {
    reads: ['profile', 'pkce'],
    check: ({ pkce }) =>
      pkce === 'optional' ? valueAt('pkce', 'profile: fapi2 requires pkce: required (section 5.3.2.2)') : undefined,
  },
  {
    reads: ['profile', 'require_pushed_authorization_requests'],
    check: client =>
      client.require_pushed_authorization_requests === false
        ? valueAt(
            'require_pushed_authorization_requests',
            'profile: fapi2 requires pushed requests (section 5.3.2.2); set it to true, or leave it out',
          )
        : undefined,
  },
  {
    reads: ['profile', 'assertion_audience'],
    check: client =>
      client.assertion_audience === 'endpoint'
        ? valueAt('assertion_audience', 'profile: fapi2 requires assertion_audience: issuer (section 5.3.2.1)')
        : undefined,
  },
  {
    reads: ['profile', 'bindToBrowser'],
    check: ({ bindToBrowser }) =>
      bindToBrowser
        ? undefined
        : valueAt(
            'bindToBrowser',
            'profile: fapi2 requires bindToBrowser: true, so that one user cannot finish the sign-in of another',
          ),
  },
  {
    reads: ['profile', 'redirect_uris', 'application_type'],
    check: ({ redirect_uris, application_type }) => {
      const index = redirect_uris.findIndex(uri => !isFapiRedirect(uri, application_type))
      return index < 0
        ? undefined
        : valueAt(
            ['redirect_uris', index],
            'profile: fapi2 allows http only for application_type: native on 127.0.0.1 or [::1] (section 5.3.2.2); use https',
          )
    },
  },
  ...algFields.map(noWeakAlg),
]

const isHttpsOrLoopback = (url: string): boolean => url.startsWith('https:') || isLoopback(new URL(url).hostname)

/** Loopback redirection is by address, not by name (RFC 8252 sections 7.3 and 8.3). */
const isFapiRedirect = (uri: string, applicationType: 'web' | 'native'): boolean => {
  const { protocol, hostname } = new URL(uri)
  return protocol !== 'http:' || (applicationType === 'native' && hostname !== 'localhost')
}

/** Reported once, at the setting that demands the profile. */
const lackOfPar = (
  { topLevel, operations, hasAllOperations }: ParsedConfig,
  clients: readonly ConfigSection<ParsedClient>[],
): readonly Fault[] => {
  const pusher = clients.find(
    ({ value, invalidPaths }) =>
      !isInvalid(invalidPaths, 'grant_types') && value.grant_types.includes('authorization_code'),
  )
  const servesPar = !hasAllOperations || operations.some(({ value }) => value.serves === 'par')
  if (!pusher || servesPar) return []
  const asker = topLevel.value.profile === 'fapi2' ? topLevel.path : pusher.path
  return [{ path: [...asker, 'profile'], at: 'value', message: pushedAlone }]
}
