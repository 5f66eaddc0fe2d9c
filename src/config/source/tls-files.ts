import { createPrivateKey, type X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { readTextFile } from '../../files/text-file.ts'
import { parseCertificates } from '../../http/tls/pem.ts'
import { handshakeFault, timeFault } from '../../http/tls/tls-files.ts'
import { ownMember, setOwnMember } from '../../own-member.ts'
import type { Fault, Path } from './diagnostic.ts'
/**
 * Makes the names of TLS files absolute, in place, and checks each file. Their content does not become part of the
 * configuration, because the files are read again while Sidegate runs.
 * @param folder the folder of the configuration file; relative file names start from it
 * @param nowMs when the certificates must be valid; left out: they may be expired
 */
export const checkTlsFiles = async (tree: unknown, folder: string, nowMs?: number): Promise<readonly Fault[]> => {
  const traffic = await readPlace(tree, ['tls'], folder)
  const internal = await readPlace(tree, ['internal', 'tls'], folder)
  const names = Object.keys(findMapping(tree, ['upstreams']) ?? {})
  const upstreams = await Promise.all(names.map(name => readPlace(tree, ['upstreams', name, 'tls'], folder)))
  return [
    ...upstreams.flatMap(place => [...place.faults, ...mismatch(place)]),
    ...[traffic, internal].flatMap(place => [...place.faults, ...pairFaults(place, nowMs)]),
    ...sharedAuthority(traffic, internal),
  ]
}

/** A mapping that names TLS files, and their content as far as it could be read. */
interface FieldPath {
  readonly path: Path
  readonly faults: readonly Fault[]
  readonly pair?: { readonly certificate: X509Certificate; readonly cert: string; readonly key: string }
  readonly authorities: readonly X509Certificate[]
}

const readPlace = async (tree: unknown, path: Path, folder: string): Promise<FieldPath> => {
  const mapping = findMapping(tree, path)
  if (!mapping) return { path, faults: [], authorities: [] }
  const faults: Fault[] = []
  const read = async <T>(name: string, parse: (pem: string) => T, expectation: string): Promise<T | undefined> => {
    const outcome = await readNamed(mapping, name, folder, parse, expectation)
    if (outcome && 'message' in outcome) faults.push(valueFault([...path, name], outcome.message))
    return outcome && 'value' in outcome ? outcome.value : undefined
  }
  const certificate = await read('cert_file', parseCertificate, 'contains no certificate in PEM')
  const key = await read('key_file', parseKey, 'contains no private key in PEM without passphrase')
  const authorities = await read('clientCa_file', parseCertificates, noAuthority)
  await read('ca_file', parseCertificates, noAuthority)
  return {
    path,
    faults,
    ...(certificate && key !== undefined && { pair: { ...certificate, key } }),
    authorities: authorities ?? [],
  }
}

const noAuthority = 'contains no certificate in PEM, or one that cannot be parsed'

const valueFault = (path: Path, message: string): Fault => ({ path, at: 'value', message })

const mismatch = ({ path, pair }: Pick<FieldPath, 'path' | 'pair'>): readonly Fault[] => {
  if (!pair || pair.certificate.checkPrivateKey(createPrivateKey(pair.key))) return []
  return [
    valueFault(
      [...path, 'key_file'],
      'contains the key of another certificate; name the key that belongs to cert_file',
    ),
  ]
}

/** Problems of a certificate and its key. Names are not compared, because a TLS proxy in front may use any name. */
const pairFaults = ({ path, pair }: FieldPath, nowMs: number | undefined): readonly Fault[] => {
  if (!pair) return []
  const { certificate } = pair
  const [fault] = mismatch({ path, pair })
  if (fault) return [fault]
  const refusal = handshakeFault(pair)
  const message = refusal ? `cannot be used: ${refusal}` : nowMs !== undefined && timeFault(certificate, nowMs)
  return message ? [valueFault([...path, 'cert_file'], message)] : []
}

/** If both listeners trust the same CA, every client could report a sign-in of any user. */
const sharedAuthority = (traffic: FieldPath, internal: FieldPath): readonly Fault[] => {
  const isShared = traffic.authorities.some(one => internal.authorities.some(other => isTrustedThrough(one, other)))
  return isShared ? [valueFault([...internal.path, 'clientCa_file'], alsoForClients)] : []
}

const alsoForClients =
  'verifies the same certificates as tls.clientCa_file, so every client could report a sign-in of any user; use a CA that issues certificates only to your login'

/**
 * Whether certificates of one CA are accepted where another one is trusted: it has the same key, or was issued by it.
 */
const isTrustedThrough = (one: X509Certificate, other: X509Certificate): boolean =>
  one.publicKey.equals(other.publicKey) || (one.checkIssued(other) && one.verify(other.publicKey))

const findMapping = (tree: unknown, path: Path): Record<string, unknown> | undefined => {
  const found = path.reduce<unknown>(
    (value, step) => ownMember(value as Record<string, unknown> | undefined, step),
    tree,
  )
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
}

type Read<T> = { readonly value: T } | { readonly message: string }

/** Undefined if no file is named; the schema reports that. */
const readNamed = async <T>(
  mapping: Record<string, unknown>,
  name: string,
  folder: string,
  parse: (pem: string) => T,
  expectation: string,
): Promise<Read<T> | undefined> => {
  const file = ownMember(mapping, name)
  if (typeof file !== 'string' || file === '') return undefined
  const absolute = resolve(folder, file)
  setOwnMember(mapping, name, absolute)
  try {
    const pem = await readTextFile(absolute)
    return { value: parse(pem) }
  } catch (error) {
    const failure = error as NodeJS.ErrnoException
    const isRead = failure.syscall === undefined
    return { message: isRead ? `${expectation}; name another file` : unreadableFile(failure) }
  }
}

/** The first certificate of the file, as TLS uses it. */
const parseCertificate = (cert: string): { readonly certificate: X509Certificate; readonly cert: string } => ({
  certificate: parseCertificates(cert)[0],
  cert,
})

/** Returns the text if it is a private key. */
const parseKey = (pem: string): string => {
  createPrivateKey(pem)
  return pem
}

/**
 * The message for a key that names a file which cannot be read. It leaves the name out, because the value may be the
 * secret itself, written there by mistake. The position of the problem leads to it.
 */
export const unreadableFile = (error: NodeJS.ErrnoException): string =>
  `does not name a readable file, relative to the folder of the configuration (${error.code ?? error.name})`
