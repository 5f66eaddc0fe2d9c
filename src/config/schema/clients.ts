import { z } from 'zod'
import { clientAuthMethods, profiles } from '../../oauth/clients/metadata.ts'
import { grantTypes, signingAlgs } from '../../oauth/protocol.ts'
import { clientIdFault, scopeList } from '../values/names.ts'
import { redirectUriFault } from '../values/redirect-uri.ts'
import { resourceFault } from '../values/uris.ts'
import { checkedText, flag, line, oneOf, oneOfYet, text, textLike } from '../values/zod-scalars.ts'
import { certificateNameShape, file, keysShape, secretHash, secretsShape } from './client-proofs.ts'

/** Registered clients, and users that may sign in. */

const alg = () => oneOf(signingAlgs).optional()

/** The members bear their RFC 7591 names. */
export const clientSchema = z.strictObject({
  client_id: checkedText(clientIdFault),
  ...secretsShape,
  client_name: line().optional().describe('The name that the consent page shows. Default the client_id.'),
  profile: oneOf(profiles)
    .default('none')
    .describe(
      'fapi2: the client complies with the FAPI 2.0 Security Profile. Default none, or the profile of the file.',
    ),
  grant_types: z
    .array(oneOfYet(grantTypes))
    .min(1, { error: `needs at least one of ${grantTypes.join(', ')}` })
    .default(['authorization_code'])
    .describe('Its grant types. Default authorization_code (RFC 7591 section 2).'),
  redirect_uris: z.array(checkedText(redirectUriFault)).default([]).describe('Compared exactly.'),
  scope: scopeList()
    .prefault('')
    .describe('Space-separated scopes that it may request. A request without scope gets all of them.'),
  token_endpoint_auth_method: oneOf(clientAuthMethods)
    .default('client_secret_basic')
    .describe('How it authenticates; none: a public client. Default client_secret_basic.'),
  token_endpoint_auth_signing_alg: alg().describe(
    'The one algorithm of its assertions. Default ES256, PS256 or EdDSA, whichever fits its keys.',
  ),
  assertion_audience: oneOf(['issuer', 'endpoint'])
    .default('issuer')
    .describe("endpoint: the aud of its assertions may also be the endpoint's URL. Default issuer."),
  ...keysShape,
  ...certificateNameShape,
  tls_client_certificate_bound_access_tokens: flag()
    .default(false)
    .describe('Whether its tokens are bound to its certificate (RFC 8705 section 3). Default false.'),
  dpop_bound_access_tokens: flag()
    .default(false)
    .describe('Whether its tokens must be bound to a key by DPoP (RFC 9449). Default false.'),
  require_pushed_authorization_requests: flag()
    .optional()
    .describe('Whether its authorization requests must be pushed (RFC 9126). Default false; true with fapi2.'),
  require_signed_request_object: flag()
    .default(false)
    .describe('Whether its authorization requests must be signed (RFC 9101). Default false.'),
  request_object_signing_alg: alg().describe(
    'The one algorithm of its request objects. Default ES256, PS256 or EdDSA, whichever fits its keys.',
  ),
  introspection_signed_response_alg: alg().describe(
    'Signature of its introspection responses (RFC 9701). Default that of tokens.accessToken.alg.',
  ),
  access_token_signed_response_alg: alg().describe(
    'Signature of its JWT access tokens; RS256 for old clients. Default that of tokens.accessToken.alg.',
  ),
  application_type: oneOf(['web', 'native'])
    .default('web')
    .describe('native: a loopback redirect may have any port. Default web.'),
  pkce: oneOf(['required', 'optional'])
    .default('required')
    .describe('optional is an exemption (RFC 9700 section 2.1.1). Default required.'),
  bindToBrowser: flag()
    .default(true)
    .describe('false: the user may return in another browser, as from an app on a phone. Default true.'),
  introspects: z
    .union([z.enum(['own', 'all']), z.array(checkedText(resourceFault))], {
      error: 'must be own, all or a list of resource URIs',
    })
    .default('own')
    .describe('The tokens that it may introspect: its own, all, or those for these resources. Default own.'),
  plan: text().optional().describe('Name of its plan. May be left out if there is only one plan.'),
})

/** The members of a client that name a signature algorithm. */
export const algFields = [
  'token_endpoint_auth_signing_alg',
  'request_object_signing_alg',
  'introspection_signed_response_alg',
  'access_token_signed_response_alg',
] as const

export const userSchema = z.strictObject({
  username: line(),
  password_hash: secretHash().optional().describe('The output of `sidegate hash`.'),
  password_hash_file: file('hash'),
  sub: textLike(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 characters of ASCII without space')
    .optional()
    .describe('The subject of tokens. Default an opaque, stable identifier.'),
})

export const clientsSchema = z.array(clientSchema).default([]).describe('The registered clients.')

export const usersSchema = z.array(userSchema).default([]).describe('The users that may sign in on the embedded pages.')
