import { clientAuthMethods, grantTypes } from '../../config/new-client.ts'
import { UsageError } from '../command.ts'

/** The options of `client new`. */
export const clientOptionTypes = {
  id: { type: 'string' },
  grant: { type: 'string', multiple: true },
  'redirect-uri': { type: 'string', multiple: true },
  scope: { type: 'string', multiple: true },
  name: { type: 'string' },
  plan: { type: 'string' },
  profile: { type: 'string' },
  public: { type: 'boolean' },
  'auth-method': { type: 'string' },
  'subject-dn': { type: 'string' },
  certificate: { type: 'string' },
  'jwks-uri': { type: 'string' },
  dpop: { type: 'boolean' },
  save: { type: 'boolean' },
  config: { type: 'string' },
} as const

type OptionValue<T> = T extends { readonly multiple: true }
  ? readonly string[]
  : T extends { readonly type: 'boolean' }
    ? boolean
    : string

export type ClientOptions = {
  readonly [K in keyof typeof clientOptionTypes]?: OptionValue<(typeof clientOptionTypes)[K]> | undefined
}

/** The authentication of the client, as the options set it. */
export interface ClientProof {
  readonly authMethod: string
  readonly isFapi: boolean
}

/**
 * The authentication method of the client, if the options are consistent.
 * @throws UsageError in terms of the options, because the user of the command does not see the names of the
 * configuration
 */
export const chooseProof = (options: ClientOptions): ClientProof => {
  const isFapi = options.profile === 'fapi2'
  const usual = isFapi ? 'private_key_jwt' : 'client_secret_basic'
  const authMethod = options['auth-method'] ?? (options.public ? 'none' : usual)
  const fault = findFault(options, authMethod)
  if (fault !== undefined) throw new UsageError(fault)
  return { authMethod, isFapi }
}

const findFault = (options: ClientOptions, authMethod: string): string | undefined =>
  findLack(options) ?? findMisfit(options, authMethod) ?? findProofFault(options, authMethod)

const findLack = ({ id, grant, 'redirect-uri': redirectUri, save, config }: ClientOptions): string | undefined => {
  if (config !== undefined && !save) return '--config is for --save'
  if (!id) return 'client new needs --id ID'
  if (!grant) return 'client new needs --grant, such as --grant client_credentials'
  const known: readonly string[] = grantTypes
  if (!grant.every(one => known.includes(one)))
    return `--grant takes one of ${grantTypes.join(', ')}; repeat it for more`
  return grant.includes('authorization_code') && !redirectUri
    ? '--grant authorization_code needs --redirect-uri URI'
    : undefined
}

const findMisfit = (options: ClientOptions, authMethod: string): string | undefined => {
  const { profile, grant } = options
  const known: readonly string[] = clientAuthMethods
  if (options.public && authMethod !== 'none') return `--public excludes --auth-method ${authMethod}`
  if (!known.includes(authMethod)) return `--auth-method takes one of ${known.join(', ')}`
  if (authMethod === 'none' && grant?.includes('client_credentials'))
    return '--grant client_credentials is for clients that authenticate (RFC 6749 section 4.4), so not for public clients'
  if (profile !== undefined && profile !== 'fapi2') return '--profile takes fapi2'
  if (profile === undefined) return undefined
  if (!fapiMethods.includes(authMethod)) return `--profile fapi2 takes --auth-method ${fapiMethods.join(', ')}`
  return options['redirect-uri']?.some(uri => uri.startsWith('http://localhost'))
    ? '--profile fapi2 takes http in --redirect-uri only on 127.0.0.1 and [::1], not on localhost'
    : undefined
}

const byName = 'tls_client_auth'
const byKey = ['private_key_jwt', 'self_signed_tls_client_auth']
const fapiMethods = ['private_key_jwt', byName, 'self_signed_tls_client_auth']

/** The option that identifies the client: only one of a name, a certificate and the URL of its keys. */
const findProofFault = (options: ClientOptions, authMethod: string): string | undefined => {
  const { 'subject-dn': name, certificate, 'jwks-uri': uri } = options
  const [first, second] = [name && '--subject-dn', certificate && '--certificate', uri && '--jwks-uri'].filter(Boolean)
  if (second) return `${second} excludes ${first}; one of the two is enough`
  if (name && authMethod !== byName) return `--subject-dn is for --auth-method ${byName}`
  if (uri && !byKey.includes(authMethod)) return `--jwks-uri is for --auth-method ${byKey.join(' or ')}`
  const isByCertificate = authMethod === byName || authMethod === 'self_signed_tls_client_auth'
  if (certificate && !isByCertificate) return `--certificate is for --auth-method ${byName} or self_signed_${byName}`
  if (!isByCertificate || first) return undefined
  return `--auth-method ${authMethod} needs --certificate FILE or ${authMethod === byName ? '--subject-dn DN' : '--jwks-uri URI'}`
}
