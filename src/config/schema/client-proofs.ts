import { isIP } from 'node:net'
import { z } from 'zod'
import { isSecretHash } from '../../oauth/secrets/secret-hash.ts'
import { Secret } from '../../secret.ts'
import { subjectNameFault } from '../values/subject-dn.ts'
import { parseInstantMs } from '../values/units.ts'
import { secureUrlFault } from '../values/uris.ts'
import { checkedText, parsedText, secretText, text, textLike } from '../values/zod-scalars.ts'
import { publicJwks } from './jwks.ts'

/** The credentials of a client: secrets, keys, and the names in its certificate. */

/** The output of `sidegate hash`. */
export const secretHash = () =>
  parsedText(
    text => (isSecretHash(text) ? new Secret(text) : undefined),
    'is not a hash of a secret; use the output of `sidegate hash`',
  )

export const file = (what: string) =>
  text().min(1, { error: 'must name a file' }).optional().describe(`A file that contains the ${what}.`)

const secretFields = {
  client_secret: secretText().optional().describe('The secret itself; better as an environment variable or a file.'),
  client_secret_file: file('secret'),
  client_secret_hash: secretHash().optional().describe('The output of `sidegate hash` or `sidegate client new`.'),
  client_secret_hash_file: file('hash'),
}

const instant = () =>
  parsedText(
    parseInstantMs,
    'must be a timestamp with its time zone, such as 2027-01-31T12:00:00Z or 2027-01-31T12:00+01:00',
  )

export const secretsShape = {
  ...secretFields,
  client_secrets: z
    .array(
      z.strictObject({
        ...secretFields,
        until: instant().optional().describe('When it expires. Default never.'),
      }),
    )
    .default([])
    .describe('Secrets that are valid at the same time, for example while one is replaced.'),
}

export const keysShape = {
  jwks: publicJwks().optional().describe('Its public keys as a JWK set (RFC 7517).'),
  jwks_file: file('JWK set'),
  jwks_uri: checkedText(secureUrlFault('https://shop.example.com/jwks.json'))
    .optional()
    .describe('The URL of its JWK set, which is cached for minutes.'),
}

/** RFC 8705 section 2.1.2. */
export const certificateNameShape = {
  tls_client_auth_subject_dn: checkedText(subjectNameFault)
    .optional()
    .describe('The subject of its certificate (RFC 4514).'),
  tls_client_auth_san_dns: textLike(
    /^(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$/,
    'must be a DNS name without wildcard, such as shop.example.com',
  )
    .optional()
    .describe('A DNS name in its certificate.'),
  tls_client_auth_san_uri: checkedText(text => (URL.canParse(text) ? undefined : 'must be an absolute URI'))
    .optional()
    .describe('A URI in its certificate.'),
  tls_client_auth_san_ip: checkedText(text => (isIP(text) ? undefined : 'must be an IPv4 or IPv6 address'))
    .optional()
    .describe('An IP address in its certificate.'),
  tls_client_auth_san_email: textLike(/^[^\s@]+@[^\s@]+$/, 'must be a mail address')
    .optional()
    .describe('A mail address in its certificate.'),
}
