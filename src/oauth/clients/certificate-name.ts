import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { isSameName } from './distinguished-name.ts'
import type { CertificateName } from './metadata.ts'

/**
 * Whether a certificate has the registered name, as its subject or among its alternative names. Each kind of name is
 * compared by its own rules (RFC 8705 section 2.1.2). A wildcard matches only itself.
 */
export const bearsName = (certificate: X509Certificate, { kind, value }: CertificateName): boolean => {
  switch (kind) {
    case 'subject_dn':
      return isSameName(value, certificate.subject)
    case 'san_dns':
      // OpenSSL takes a name with a leading dot for every name below it.
      return (
        !value.startsWith('.') && certificate.checkHost(value, { subject: 'never', wildcards: false }) !== undefined
      )
    case 'san_ip':
      return isIP(value) !== 0 && certificate.checkIP(value) !== undefined
    case 'san_email':
      return certificate.checkEmail(value, { subject: 'never' }) !== undefined
    case 'san_uri':
      return readUris(certificate.subjectAltName).includes(value)
  }
}

/**
 * The URIs in a list of names as Node prints it: `DNS:a.example, URI:"https://a.example/x\u002cy"`. Node quotes names
 * with a comma.
 */
const readUris = (subjectAltName = ''): readonly string[] =>
  subjectAltName.split(', ').flatMap(name => {
    const uri = /^URI:(.*)$/.exec(name)?.[1]
    if (uri === undefined) return []
    return uri.startsWith('"') ? [String(JSON.parse(uri))] : [uri]
  })
