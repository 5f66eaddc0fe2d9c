import { z } from 'zod'
import { isSecretHash } from '../../oauth/secrets/secret-hash.ts'
import { grantTypes } from '../../oauth/wire.ts'
import { Secret } from '../../secret.ts'
import { redirectUriFault } from '../values/redirect-uri.ts'
import { resourceFault } from '../values/resource.ts'
import { scopeList } from '../values/scope.ts'
import {
  checkedText,
  line,
  oneOf,
  oneOfYet,
  parsedText,
  printableAscii,
  secretText,
  text,
  textLike,
} from '../values/texts.ts'

/** Who may ask for tokens: the registered clients, and the people who may sign in. */

const secretHash = () =>
  parsedText(
    text => (isSecretHash(text) ? new Secret(text) : undefined),
    'not a stored form; take what `sidegate hash` prints',
  )

const file = (what: string) =>
  text().min(1, { error: 'must name a file' }).optional().describe(`A file that holds the ${what}.`)

/** The members bear their RFC 7591 names. */
export const clientSchema = z.strictObject({
  client_id: printableAscii('a client_id'),
  client_secret: secretText().optional().describe('The secret itself; better as an environment variable or a file.'),
  client_secret_file: file('secret'),
  client_secret_hash: secretHash().optional().describe('What `sidegate hash` or `sidegate client new` printed.'),
  client_secret_hash_file: file('stored form'),
  client_name: line().optional().describe('What people see on the consent page. Default the client_id.'),
  grant_types: z
    .array(oneOfYet(grantTypes))
    .min(1, { error: `needs at least one of ${grantTypes.join(', ')}` })
    .default(['authorization_code'])
    .describe('Default authorization_code, as RFC 7591 section 2 has it.'),
  redirect_uris: z.array(checkedText(redirectUriFault)).default([]).describe('Compared exactly.'),
  scope: scopeList()
    .prefault('')
    .describe('Space-separated scopes it may ask for; all of them where it asks for none.'),
  token_endpoint_auth_method: oneOfYet(['client_secret_basic', 'client_secret_post', 'none'])
    .default('client_secret_basic')
    .describe('How it proves itself; none: a public client. Default client_secret_basic.'),
  application_type: oneOf(['web', 'native'])
    .default('web')
    .describe('native: a loopback redirect may have any port. Default web.'),
  pkce: oneOf(['required', 'optional'])
    .default('required')
    .describe('optional is an exemption (RFC 9700 section 2.1.1). Default required.'),
  introspects: z
    .union([z.enum(['own', 'all']), z.array(checkedText(resourceFault))], {
      error: 'must be own, all or a list of resource URIs',
    })
    .default('own')
    .describe('Whose tokens it may introspect: its own, all, or those for these resources. Default own.'),
  plan: text().optional().describe('Name of its plan. May be left out where there is one.'),
})

export const userSchema = z.strictObject({
  username: textLike(/^[^\p{Cc}]{1,200}$/u, 'must be 1 to 200 characters on one line'),
  password_hash: secretHash().optional().describe('What `sidegate hash` printed.'),
  password_hash_file: file('stored form'),
  sub: textLike(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 characters of ASCII without space')
    .optional()
    .describe('The subject of tokens. Default an opaque stable one.'),
})

export const clientsSchema = z.array(clientSchema).default([]).describe('The registered clients.')

export const usersSchema = z.array(userSchema).default([]).describe('Who may sign in on the embedded pages.')
