import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Fault, Path } from './problem.ts'

/** The mappings that name TLS files. */
const places: readonly Path[] = [['tls'], ['internal', 'tls']]

/**
 * Makes the names of TLS files absolute, in place, and tries each file. What they hold stays outside of the
 * configuration, since they are read again while Sidegate runs.
 * @param folder what relative file names start from: the folder of the configuration file
 */
export const checkTlsFiles = async (tree: unknown, folder: string): Promise<readonly Fault[]> => {
  const faults = await Promise.all(places.map(path => checkPlace(tree, path, folder)))
  return faults.flat()
}

const checkPlace = async (tree: unknown, path: Path, folder: string): Promise<readonly Fault[]> => {
  const mapping = findMapping(tree, path)
  if (!mapping) return []
  const faults: Fault[] = []
  const read = async <T>(name: string, parse: (pem: string) => T, expectation: string): Promise<T | undefined> => {
    const outcome = await readNamed(mapping, name, folder, parse, expectation)
    if (outcome && 'message' in outcome) faults.push({ path: [...path, name], at: 'value', message: outcome.message })
    return outcome && 'value' in outcome ? outcome.value : undefined
  }
  const certificate = await read('cert_file', parseCertificate, 'holds no certificate in PEM')
  const key = await read('key_file', parseKey, 'holds no private key in PEM without passphrase')
  await read('clientCa_file', parseCertificates, 'holds no certificate in PEM, or one that cannot be read')
  if (certificate && key && !certificate.checkPrivateKey(key)) {
    faults.push({
      path: [...path, 'key_file'],
      at: 'value',
      message: 'holds the key of another certificate; name the one that belongs to cert_file',
    })
  }
  return faults
}

const findMapping = (tree: unknown, path: Path): Record<string, unknown> | undefined => {
  const found = path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], tree)
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
}

type Read<T> = { readonly value: T } | { readonly message: string }

/** Undefined where no file is named; that is for the schema to judge. */
const readNamed = async <T>(
  mapping: Record<string, unknown>,
  name: string,
  folder: string,
  parse: (pem: string) => T,
  expectation: string,
): Promise<Read<T> | undefined> => {
  const file = mapping[name]
  if (typeof file !== 'string' || file === '') return undefined
  const absolute = resolve(folder, file)
  mapping[name] = absolute
  try {
    const pem = await readFile(absolute, 'utf8')
    return { value: parse(pem) }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall !== undefined) return { message: `${absolute} cannot be read (${code}); name a file that can` }
    return { message: `${expectation}; name a file that does` }
  }
}

/** The first of the file, as TLS takes it. */
const parseCertificate = (pem: string): X509Certificate => new X509Certificate(pem)

const parseKey = (pem: string): KeyObject => createPrivateKey(pem)

const parseCertificates = (pem: string): readonly X509Certificate[] => {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  if (!blocks) throw new TypeError('no certificate')
  return blocks.map(block => new X509Certificate(block))
}
