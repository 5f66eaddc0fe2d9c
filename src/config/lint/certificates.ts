import type { X509Certificate } from 'node:crypto'
import { readTextFile } from '../../files/text-file.ts'
import { parseCertificates } from '../../http/tls/pem.ts'
import { findKeyLimitFault } from '../../oauth/client-keys/public-keys.ts'
import { minRsaBits } from '../../oauth/jws-algorithms.ts'
import { parseRedisAddress } from '../../stores/store-url.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Path } from '../source/diagnostic.ts'
import { type WarningRules, warnIf } from './warning.ts'

/** How long before an expiry the operator is warned, to have time for the replacement. */
export const dueAtMs = 14 * 86_400_000

/** The certificates in the files that the configuration names. */
export const certificateRules = {
  'expiring-certificate': async ({ parsed, nowMs }) =>
    (await readAll(parsed)).flatMap(({ path, certificates, isBundle }) => {
      const ends = certificates.toSorted((one, other) => endMs(one) - endMs(other))
      // While a CA is replaced, the bundle contains the old one and the new one. In a chain every certificate is
      // needed.
      const ending = ends.at(isBundle ? -1 : 0)
      if (!ending || !isDue(ending, nowMs)) return []
      return [
        {
          path,
          message: `ends at ${ending.validToDate.toISOString()}; replace it, and find out why it was not renewed`,
        },
      ]
    }),
  'weak-key': async ({ parsed }) =>
    (await readAll(parsed)).flatMap(({ path, certificates }) =>
      warnIf(
        certificates.some(({ publicKey }) => findKeyLimitFault(publicKey) === 'too_short'),
        path,
        `holds a certificate with an RSA key of less than ${minRsaBits} bits, which can be forged; replace it`,
      ),
    ),
} as const satisfies WarningRules

const endMs = ({ validToDate }: X509Certificate): number => validToDate.getTime()

/**
 * Short-lived certificates are renewed late by design, so for them the warning starts when less than a third of their
 * lifetime is left.
 */
const isDue = (certificate: X509Certificate, nowMs: number): boolean => {
  const lifetimeMs = endMs(certificate) - certificate.validFromDate.getTime()
  return endMs(certificate) - nowMs < Math.min(dueAtMs, lifetimeMs / 3)
}

interface CertificateFile {
  readonly path: Path
  readonly file: string
  /** A bundle of CAs, of which one is enough. */
  readonly isBundle: boolean
}

const filesOf = ({ topLevel, upstreams }: ParsedConfig): readonly CertificateFile[] => {
  const { tls, internal, store } = topLevel.value
  const address = store.kind === 'redis' ? parseRedisAddress(store) : undefined
  const redisFiles = address && 'tls' in address ? address.tls : undefined
  return [
    ...named(['tls'], tls),
    ...named(['internal', 'tls'], internal?.tls),
    ...upstreams.flatMap(({ path, value }) => named([...path, 'tls'], value.tls)),
    ...toFile(['store'], redisFiles?.certFile, false),
    ...toFile(['store'], redisFiles?.caFile, true),
  ]
}

interface FileNames {
  readonly cert_file?: string | undefined
  readonly clientCa_file?: string | undefined
  readonly ca_file?: string | undefined
}

const named = (path: Path, names: FileNames = {}): readonly CertificateFile[] => [
  ...toFile([...path, 'cert_file'], names.cert_file, false),
  ...toFile([...path, 'clientCa_file'], names.clientCa_file, true),
  ...toFile([...path, 'ca_file'], names.ca_file, true),
]

const toFile = (path: Path, file: string | undefined, isBundle: boolean): readonly CertificateFile[] =>
  file === undefined ? [] : [{ path, file, isBundle }]

type ParsedCertificateFile = CertificateFile & { readonly certificates: readonly X509Certificate[] }

/** The configuration has no problems, so each file could be read. A file that was deleted since leads to no warning. */
const readAll = async (parsed: ParsedConfig): Promise<readonly ParsedCertificateFile[]> =>
  Promise.all(filesOf(parsed).map(async file => ({ ...file, certificates: await readCertificates(file.file) })))

const readCertificates = (file: string): Promise<readonly X509Certificate[]> =>
  readTextFile(file)
    .then(parseCertificates)
    .catch(() => [])
