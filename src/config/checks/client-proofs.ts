import { certificateNameKinds } from '../../oauth/clients/metadata.ts'
import { type SigningAlg, strongSigningAlgs } from '../../oauth/protocol.ts'
import type { ConfigSection } from '../parse/config-section.ts'
import type { ParsedClient, ParsedSecret } from '../parse/parsed-config.ts'
import { certificateNames } from '../resolve/resolve-client.ts'
import type { Fault } from '../source/diagnostic.ts'
import { haveKeyFor } from '../values/jwk.ts'
import { applyRules, type Finding, keyAt, type Rule, valueAt } from './rule.ts'

/** Checks that a client has exactly the credentials that its authentication method needs. */
export const checkProofs = (client: ConfigSection<ParsedClient>): readonly Fault[] => [
  ...applyRules(clientRules, client, client.value),
  ...client.value.client_secrets.flatMap((secret, index) =>
    applyRules(
      secretRules,
      { path: [...client.path, 'client_secrets', index], invalidPaths: client.invalidPaths },
      secret,
    ),
  ),
]

const method = 'token_endpoint_auth_method'
const secretFields = ['client_secret', 'client_secret_hash', 'client_secrets', method] as const
const nameFields = certificateNameKinds.map(kind => `tls_client_auth_${kind}` as const)
const keyFields = ['jwks', 'jwks_uri'] as const

const bothForms = ({ client_secret, client_secret_hash }: Omit<ParsedSecret, 'until'>): Finding | undefined =>
  client_secret && client_secret_hash
    ? keyAt('client_secret_hash', 'excludes client_secret; keep one of the two')
    : undefined

const secretRules: readonly Rule<ParsedSecret>[] = [
  { reads: ['client_secrets'], check: bothForms },
  {
    reads: ['client_secrets'],
    check: ({ client_secret, client_secret_hash }) =>
      client_secret || client_secret_hash ? undefined : valueAt([], 'needs client_secret or client_secret_hash'),
  },
]

const clientRules: readonly Rule<ParsedClient>[] = [
  { reads: secretFields, check: bothForms },
  {
    reads: secretFields,
    check: client =>
      usesSecret(client) && !findSecretField(client)
        ? valueAt(
            'client_secret',
            'missing; set client_secret or client_secret_hash, or token_endpoint_auth_method: none for a public client',
          )
        : undefined,
  },
  {
    reads: secretFields,
    check: client => {
      const field = findSecretField(client)
      if (usesSecret(client) || !field) return undefined
      const kind = client[method] === 'none' ? 'a public client' : 'a client'
      return keyAt(
        field,
        `${kind} (token_endpoint_auth_method: ${client[method]}) has no secret; remove one of the two`,
      )
    },
  },
  {
    reads: keyFields,
    check: client =>
      client.jwks && client.jwks_uri
        ? keyAt('jwks_uri', 'excludes jwks; keep one of the two (RFC 7591 section 2)')
        : undefined,
  },
  {
    reads: [...keyFields, method, 'require_signed_request_object', 'request_object_signing_alg'],
    check: client => {
      const reason = findNeedOfKeys(client)
      return reason && !client.jwks && !client.jwks_uri
        ? valueAt('jwks', `missing; ${reason} needs its public keys; set jwks, jwks_file or jwks_uri`)
        : undefined
    },
  },
  {
    reads: [...keyFields, method, 'token_endpoint_auth_signing_alg'],
    check: client =>
      client[method] === 'private_key_jwt' ? lackOfFit(client, client.token_endpoint_auth_signing_alg) : undefined,
  },
  {
    reads: [...keyFields, method, 'token_endpoint_auth_signing_alg', 'request_object_signing_alg'],
    check: client => {
      const { request_object_signing_alg: alg, require_signed_request_object: isDemanded } = client
      // Already reported for its assertions.
      if (client[method] === 'private_key_jwt' && lackOfFit(client, client.token_endpoint_auth_signing_alg)) return
      return isDemanded || alg ? lackOfFit(client, alg) : undefined
    },
  },
  {
    reads: [method, ...nameFields],
    check: client => {
      const names = certificateNames(client)
      if (client[method] !== 'tls_client_auth' || names.length === 1) return undefined
      const [, second] = names
      return second
        ? keyAt(`tls_client_auth_${second.kind}`, 'there is another name already; keep one (RFC 8705 section 2.1.2)')
        : valueAt('tls_client_auth_subject_dn', `missing; set one of ${nameFields.join(', ')}`)
    },
  },
  {
    reads: [method, ...nameFields],
    check: client => {
      const [name] = certificateNames(client)
      return name && client[method] !== 'tls_client_auth'
        ? keyAt(
            `tls_client_auth_${name.kind}`,
            'is only for token_endpoint_auth_method: tls_client_auth; set that, or remove it',
          )
        : undefined
    },
  },
  {
    reads: [method, 'token_endpoint_auth_signing_alg'],
    check: client =>
      client.token_endpoint_auth_signing_alg && client[method] !== 'private_key_jwt'
        ? keyAt('token_endpoint_auth_signing_alg', 'is only for token_endpoint_auth_method: private_key_jwt; remove it')
        : undefined,
  },
]

/** Keys at a URL are not fetched here. */
const lackOfFit = ({ jwks }: ParsedClient, alg: SigningAlg | undefined): Finding | undefined => {
  const algs = alg ? [alg] : strongSigningAlgs
  return !jwks || haveKeyFor(jwks.keys, algs)
    ? undefined
    : valueAt('jwks', `has no key for ${algs.join(', ')}, the algorithms that the client is registered for; add one`)
}

const usesSecret = (client: ParsedClient): boolean => client[method].startsWith('client_secret_')

const findSecretField = (client: ParsedClient): string | undefined => {
  if (client.client_secret) return 'client_secret'
  if (client.client_secret_hash) return 'client_secret_hash'
  return client.client_secrets.length > 0 ? 'client_secrets' : undefined
}

const findNeedOfKeys = (client: ParsedClient): string | undefined => {
  if (client[method] === 'private_key_jwt' || client[method] === 'self_signed_tls_client_auth') return client[method]
  if (client.require_signed_request_object) return 'require_signed_request_object'
  return client.request_object_signing_alg && 'request_object_signing_alg'
}
