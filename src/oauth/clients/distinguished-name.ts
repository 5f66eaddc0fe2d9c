import { isUtf8 } from 'node:buffer'

/**
 * Whether a registered name (RFC 4514, most specific part first: `CN=Shop,O=Bank,C=AT`) is the subject of a
 * certificate as Node prints it: one part on each line, in the certificate's own order, which is the reverse, escaped
 * by the same rules. All parts must match, in order. Types are given by name or object identifier, and their case is
 * ignored; values are compared byte for byte. False for a registered name that cannot be parsed.
 */
export const isSameName = (registered: string, subject: string | undefined): boolean => {
  const name = parseName(registered)
  return name !== undefined && subject !== undefined && name === toCanonical(subject.split('\n'), identifyPrinted)
}

/** One canonical text for all spellings of a registered name; undefined for a name that RFC 4514 does not allow. */
export const parseName = (registered: string): string | undefined =>
  toCanonical(splitName(registered).toReversed(), identify)

/** The parts of a registered name, as they are written. */
export const splitName = (registered: string): readonly string[] => splitUnescaped(registered, ',')

/** Converts the subject of a certificate, as Node prints it, to a name that can be registered. */
export const toRegisteredName = (subject: string): string =>
  subject
    .split('\n')
    .map(part => splitUnescaped(part, '+').map(spellUniqueIdentifier).join('+'))
    .reverse()
    .join(',')

/** OpenSSL's `uid` would be parsed as the `uid` of RFC 4519, which is another attribute. */
const spellUniqueIdentifier = (attribute: string): string =>
  attribute.replace(/^(\s*)uid=/, (_, space: string) => `${space}${uniqueIdentifier}=`)

const toCanonical = (parts: readonly string[], identifyType: (type: string) => string): string | undefined => {
  // The attributes of one part are a set, so their order is not significant.
  const read = parts.map(part =>
    splitUnescaped(part, '+')
      .map(attribute => parseAttribute(attribute, identifyType))
      .toSorted(),
  )
  return read.flat().includes(undefined) ? undefined : JSON.stringify(read)
}

/** Splits at separators that are not escaped. */
const splitUnescaped = (text: string, separator: ',' | '+'): string[] => {
  const parts = ['']
  for (const unit of toUnits(text)) {
    if (unit === separator) parts.push('')
    else parts.push(parts.pop() + unit)
  }
  return parts
}

/** Single characters, and escapes: a backslash with two hexadecimal digits or one character. */
const toUnits = (text: string): readonly string[] => text.match(/\\[0-9a-f]{2}|\\?./gisu) ?? []

/** `type=value`, with the object identifier of the type if it is known. */
const parseAttribute = (text: string, identifyType: (type: string) => string): string | undefined => {
  const [, type = '', written = ''] = /^\s*([a-z0-9.-]+)\s*=(.*)$/is.exec(text) ?? []
  const value = parseValue(written)
  if (type === '' || value === undefined) return undefined
  return `${identifyType(type)}=${value}`
}

/** The object identifier of a type in a registered name (RFC 4514). Its case is ignored. */
const identify = (type: string): string => {
  const name = type.toUpperCase().replace(/^OID\./, '')
  return objectIdentifiers.get(name) ?? name
}

/**
 * The object identifier of a type as Node prints it, which is OpenSSL's short name. Two of these names differ by case
 * alone: `UID` is userId, as in RFC 4519, and `uid` is uniqueIdentifier.
 */
const identifyPrinted = (type: string): string => (type === 'uid' ? uniqueIdentifier : identify(type))

/** RFC 1274 section 9.3.34. */
const uniqueIdentifier = '0.9.2342.19200300.100.1.44'

const parseValue = (written: string): string | undefined => {
  const units = trimUnits(toUnits(written))
  if (units[0] === '#') return decodeHex(units.slice(1).join(''))
  return units.some(hasNoMeaning) ? undefined : decodeUtf8(Buffer.concat(units.map(toBytes)))
}

/** Operators write spaces around the separators. Spaces that belong to a value are escaped (RFC 4514 section 2.4). */
const trimUnits = (units: readonly string[]): readonly string[] => {
  const first = units.findIndex(isNoSpace)
  return first < 0 ? [] : units.slice(first, units.findLastIndex(isNoSpace) + 1)
}

const isNoSpace = (unit: string): boolean => unit.trim() !== ''

/** Characters that RFC 4514 allows only after a backslash. A backslash that escapes nothing is one of them. */
const hasNoMeaning = (unit: string): boolean => ['"', '<', '>', ';', '\\', '\0'].includes(unit)

const toBytes = (unit: string): Buffer => {
  if (/^\\[0-9a-f]{2}$/i.test(unit)) return Buffer.from(unit.slice(1), 'hex')
  return Buffer.from(unit.startsWith('\\') ? unit.slice(1) : unit)
}

/** The DER of a short UTF8String, PrintableString or IA5String in hexadecimal digits (RFC 4514 section 2.4). */
const decodeHex = (digits: string): string | undefined => {
  const bytes = Buffer.from(digits, 'hex')
  const [tag = 0, lengthBytes = 0] = bytes
  const isWhole = bytes.length * 2 === digits.length && lengthBytes < 128 && bytes.length === 2 + lengthBytes
  return isWhole && textTags.has(tag) ? decodeUtf8(bytes.subarray(2)) : undefined
}

const textTags: ReadonlySet<number> = new Set([0x0c, 0x13, 0x16])

const decodeUtf8 = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString() : undefined)

/**
 * The types in certificates of companies, banks and servers (RFC 4519, ETSI EN 319 412-1, EV guidelines section 9.2).
 */
const objectIdentifiers: ReadonlyMap<string, string> = new Map([
  ['CN', '2.5.4.3'],
  ['SN', '2.5.4.4'],
  ['SERIALNUMBER', '2.5.4.5'],
  ['C', '2.5.4.6'],
  ['L', '2.5.4.7'],
  ['ST', '2.5.4.8'],
  ['STREET', '2.5.4.9'],
  ['O', '2.5.4.10'],
  ['OU', '2.5.4.11'],
  ['TITLE', '2.5.4.12'],
  ['BUSINESSCATEGORY', '2.5.4.15'],
  ['POSTALCODE', '2.5.4.17'],
  ['GN', '2.5.4.42'],
  ['DNQUALIFIER', '2.5.4.46'],
  ['ORGANIZATIONIDENTIFIER', '2.5.4.97'],
  ['UID', '0.9.2342.19200300.100.1.1'],
  ['UNIQUEIDENTIFIER', uniqueIdentifier],
  ['DC', '0.9.2342.19200300.100.1.25'],
  ['EMAILADDRESS', '1.2.840.113549.1.9.1'],
  ['JURISDICTIONL', '1.3.6.1.4.1.311.60.2.1.1'],
  ['JURISDICTIONST', '1.3.6.1.4.1.311.60.2.1.2'],
  ['JURISDICTIONC', '1.3.6.1.4.1.311.60.2.1.3'],
])
