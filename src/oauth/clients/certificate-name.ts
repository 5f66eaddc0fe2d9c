import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { isSameName } from './distinguished-name.ts'
import type { CertificateName } from './metadata.ts'

/**
 * Whether a certificate bears the registered name: as its subject, or among its alternative names, each compared as its
 * kind is (RFC 8705 section 2.1.2). A wildcard stands for nothing but itself.
 */
export const bearsName = (certificate: X509Certificate, { kind, value }: CertificateName): boolean => {
  switch (kind) {
    case 'subject_dn':
      return isSameName(value, certificate.subject)
    case 'san_dns':
      // OpenSSL reads a leading dot as any name below it.
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

/** The URIs among the names that node lists as `DNS:a.example, URI:"https://a.example/x\u002cy"`: it quotes what has commas. */
const readUris = (subjectAltName = ''): readonly string[] =>
  subjectAltName.split(', ').flatMap(name => {
    const uri = /^URI:(.*)$/.exec(name)?.[1]
    if (uri === undefined) return []
    return uri.startsWith('"') ? [String(JSON.parse(uri))] : [uri]
  })
