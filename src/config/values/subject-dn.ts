import { parseName, splitName } from '../../oauth/clients/distinguished-name.ts'

/**
 * The fault of a certificate's subject DN and its correction, or undefined (RFC 4514). A DN in reverse order, as
 * openssl prints it, is syntactically valid, but matches no certificate.
 */
export const subjectNameFault = (name: string): string | undefined => {
  if (/^\s*subject\s*=/i.test(name)) return 'begins with a prefix that openssl prints; remove subject='
  if (parseName(name) === undefined)
    return `must be a distinguished name, such as CN=shop,O=Example,C=DE; ${howToPrint}`
  const parts = splitName(name).map(toPlainPart)
  const breadths = parts.map(breadthOf).filter(breadth => breadth >= 0)
  // Only attribute types with a known name are compared; object identifiers are accepted as they are.
  if ((breadths[0] ?? 0) <= (breadths.at(-1) ?? 0)) return undefined
  return `is in reverse order: RFC 4514 writes it as ${parts.toReversed().join(',')}; if the certificate itself has its parts in this order, write 2.5.4.6 for C, 2.5.4.3 for CN, and so on`
}

const howToPrint = '`openssl x509 -noout -subject -nameopt RFC2253` prints it after subject= (RFC 4514)'

const toPlainPart = (part: string): string => part.trim().replace(/\s*=\s*/, '=')

/** Attribute types, from the most specific to the most general. */
const types = ['CN', 'OU', 'O', 'L', 'ST', 'C', 'DC']

const breadthOf = (part: string): number => types.indexOf(part.slice(0, part.indexOf('=')).toUpperCase())
