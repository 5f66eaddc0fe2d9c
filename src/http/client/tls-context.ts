import { createSecureContext, type SecureContext } from 'node:tls'
import { createTextFiles, readTextFileSync, type TextFiles } from '../../files/text-file.ts'
import { type CertificateEnds, firstEnd, parseCertificates } from '../tls/pem.ts'
import { parsePrivateKey, within } from '../tls/tls-files.ts'

/** TLS toward servers: the CAs that verify them, and our certificate. The server's certificate is always verified. */
export interface ClientTlsOptions {
  /** PEM: the CAs that verify servers, in place of the public CAs that Node includes. */
  readonly caFile?: string
  /** PEM: our certificate, for a server that asks for one. Always with `keyFile`. */
  readonly certFile?: string
  /** PEM, without a passphrase. */
  readonly keyFile?: string
  /** The name in the server's certificate. Left out: the host name of the target. */
  readonly servername?: string
}

/** Receives changes while the context is in use. */
export interface ClientTlsReport {
  /** New connections use certificates with these expiry times. Called at the start and at each renewal. */
  uses(ends: CertificateEnds): void
  /** New connections use other certificates from now on. */
  renewed(): void
  /** The content of the files cannot be used, so the previous content is kept. Called once for each such content. */
  refused(reason: string): void
}

/** The TLS context of new connections. Its files are read again when they change. */
export interface ClientTls {
  readonly servername: string | undefined
  context(): SecureContext
  close(): void
}

/**
 * How often the files are read. Mounted secrets change by a swap of symbolic links, which `fs.watch` does not report.
 */
const readEveryMs = 2000

/** @throws Error a sentence with the file's name if one cannot be read or used */
export const openClientTls = (options: ClientTlsOptions, report: ClientTlsReport, everyMs = readEveryMs): ClientTls => {
  let inUse = readTextsSync(options)
  let material = toMaterial(inUse, options)
  let refused: string | undefined

  const files = createTextFiles()
  let isReading = false
  let isClosed = false

  const readFiles = async (): Promise<void> => {
    if (isReading) return
    isReading = true
    try {
      const texts = await readTexts(options, files)
      if (isClosed || isSame(texts, inUse)) return
      material = toMaterial(texts, options)
      inUse = texts
      refused = undefined
      report.uses(material.ends)
      report.renewed()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== refused && !isClosed) report.refused(reason)
      refused = reason
    } finally {
      isReading = false
    }
  }
  report.uses(material.ends)
  const timer = setInterval(readFiles, everyMs).unref()
  return {
    servername: options.servername,
    context: () => material.context,
    close() {
      isClosed = true
      clearInterval(timer)
    },
  }
}

interface Texts {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

/** Synchronous: the files are small, and a new gateway must know whether they are valid. */
const readTextsSync = ({ caFile, certFile, keyFile }: ClientTlsOptions): Texts => {
  const read = (file: string): string => {
    try {
      return readTextFileSync(file)
    } catch (cause) {
      throw unreadable(file, cause)
    }
  }
  return { ca: caFile && read(caFile), cert: certFile && read(certFile), key: keyFile && read(keyFile) }
}

const readTexts = async ({ caFile, certFile, keyFile }: ClientTlsOptions, files: TextFiles): Promise<Texts> => {
  const read = (file: string): Promise<string> =>
    files.read(file).catch(cause => {
      throw unreadable(file, cause)
    })
  return {
    ca: caFile && (await read(caFile)),
    cert: certFile && (await read(certFile)),
    key: keyFile && (await read(keyFile)),
  }
}

const unreadable = (file: string, cause: unknown): Error =>
  new Error(`${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause })

const isSame = (one: Texts, other: Texts): boolean =>
  one.ca === other.ca && one.cert === other.cert && one.key === other.key

interface Material {
  readonly context: SecureContext
  readonly ends: CertificateEnds
}

/** Checks that the files are complete: OpenSSL itself would treat the beginning of a list as all of it. */
const toMaterial = ({ ca, cert, key }: Texts, options: ClientTlsOptions): Material => {
  const { caFile = '', certFile = '', keyFile = '' } = options
  const authorities = ca === undefined ? undefined : within(caFile, () => parseCertificates(ca))
  const chain = cert === undefined ? undefined : within(certFile, () => parseCertificates(cert))
  if (chain !== undefined && key !== undefined) {
    const privateKey = within(keyFile, () => parsePrivateKey(key))
    if (!chain[0].checkPrivateKey(privateKey)) throw new Error(`${keyFile} holds the key of another certificate`)
  }
  return {
    context: createSecureContext({ ca: authorities?.map(String), cert, key, minVersion: 'TLSv1.2' }),
    ends: { own: firstEnd(chain ?? []), authorities: firstEnd(authorities ?? []) },
  }
}
