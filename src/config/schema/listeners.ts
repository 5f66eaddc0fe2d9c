import { z } from 'zod'
import { clientAuths, clientCertificateHeaders } from '../../http/tls/tls-options.ts'
import { parseHostPort } from '../values/address.ts'
import { oneOf, parsedText, text } from '../values/zod-scalars.ts'
import { publicJwks } from './jwks.ts'

/** The listeners, and how their callers authenticate. */

export const hostPort = () => parsedText(parseHostPort, 'must be host:port, such as 0.0.0.0:8080 or "[::]:8080"')

/** Only the file's name is kept, because the file is read again whenever it changes. */
const tlsFile = (what: string) => text().min(1, { error: 'must name a file' }).describe(`PEM file: ${what}.`)

const tlsFiles = {
  cert_file: tlsFile('the certificate, then the chain above it'),
  key_file: tlsFile('its private key'),
  clientCa_file: tlsFile('the CAs that verify the certificates of clients').optional(),
}

export const tlsSchema = z
  .strictObject({
    ...tlsFiles,
    clientAuth: oneOf(clientAuths)
      .default('off')
      .describe(
        'optional: clients are asked for a certificate; required: they must have one of clientCa_file. Default off.',
      ),
  })
  .optional()
  .describe('TLS on the traffic listener. The files are read again when they change. Default plain HTTP.')

export const clientCertificateHeaderSchema = oneOf(clientCertificateHeaders)
  .default('none')
  .describe(
    'The header in which trustedProxies send the certificate of a client: client-cert (RFC 9440), x-forwarded-client-cert or none. Default none.',
  )

export const internalSchema = z
  .strictObject({
    listen: hostPort().describe('host:port, best not reachable from other networks.'),
    tls: z
      .strictObject(tlsFiles)
      .optional()
      .describe(
        'Required unless it listens on loopback. With clientCa_file a certificate of that CA authenticates the caller.',
      ),
    jwks: publicJwks()
      .optional()
      .describe('JWK set with the public keys of callers that authenticate by a signed JWT.'),
    jwks_file: text().min(1, { error: 'must name a file' }).optional().describe('A file that contains this JWK set.'),
  })
  .optional()
  .describe('The private listener for the login of login.mode: handoff. Default none.')
