import { createSecureContext, type SecureContext } from 'node:tls'
import { createTextFiles, readTextFileSync, type TextFiles } from '../../files/text-file.ts'
import { type CertificateEnds, firstEnd, parseCertificates } from '../tls/pem.ts'
import { parsePrivateKey, within } from '../tls/tls-files.ts'

/** TLS toward servers: whom to believe, and who we are. The server's certificate is always verified. */
export interface ClientTlsOptions {
  /** PEM: who vouches for servers, in place of the public CAs that Node brings. */
  readonly caFile?: string
  /** PEM: our certificate, for a server that asks for one. Always with `keyFile`. */
  readonly certFile?: string
  /** PEM, without a passphrase. */
  readonly keyFile?: string
  /** The name in the server's certificate. Left out: the one it is called by. */
  readonly servername?: string
}

/** Told of changes while it is in use. */
export interface ClientTlsReport {
  /** New connections use certificates with these ends: said at the start, and at each renewal. */
  uses(ends: CertificateEnds): void
  /** New connections use other certificates from now on. */
  renewed(): void
  /** The files hold nothing of use; what was there before is kept. Said once for each such content. */
  refused(reason: string): void
}

/** What new connections are made with; its files are read again when they change. */
export interface ClientTls {
  readonly servername: string | undefined
  context(): SecureContext
  close(): void
}

/** How often the files are looked at. Mounted secrets change by a swap of links, which watching a file does not see. */
const lookEveryMs = 2000

/** @throws Error a sentence with the file's name, where one cannot be read or used */
export const openClientTls = (options: ClientTlsOptions, report: ClientTlsReport, everyMs = lookEveryMs): ClientTls => {
  let inUse = readTextsSync(options)
  let material = toMaterial(inUse, options)
  let refused: string | undefined

  const files = createTextFiles()
  let isLooking = false
  let isClosed = false

  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
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
      isLooking = false
    }
  }
  report.uses(material.ends)
  const timer = setInterval(look, everyMs).unref()
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

/** At once: they are small, and a gateway that begins has to know whether they are good. */
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

/** Only what is whole: OpenSSL itself would take the beginning of a list for all of it. */
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
