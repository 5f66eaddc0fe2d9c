import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { parseCertificates } from '../pem.ts'
import { parsePrivateKey, within } from '../tls-files.ts'

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
  let inUse = readTexts(options)
  let context = toContext(inUse, options)
  let refused: string | undefined

  const look = (): void => {
    try {
      const texts = readTexts(options)
      if (isSame(texts, inUse)) return
      context = toContext(texts, options)
      inUse = texts
      refused = undefined
      report.renewed()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== refused) report.refused(reason)
      refused = reason
    }
  }
  const timer = setInterval(look, everyMs).unref()
  return { servername: options.servername, context: () => context, close: () => clearInterval(timer) }
}

interface Texts {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

const readTexts = ({ caFile, certFile, keyFile }: ClientTlsOptions): Texts => ({
  ca: read(caFile),
  cert: read(certFile),
  key: read(keyFile),
})

/** At once: they are small, and a gateway that begins has to know whether they are good. */
const read = (file: string | undefined): string | undefined => {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
}

const isSame = (one: Texts, other: Texts): boolean =>
  one.ca === other.ca && one.cert === other.cert && one.key === other.key

/** Only what is whole: OpenSSL itself would take the beginning of a list for all of it. */
const toContext = ({ ca, cert, key }: Texts, options: ClientTlsOptions): SecureContext => {
  const { caFile = '', certFile = '', keyFile = '' } = options
  const authorities = ca === undefined ? undefined : within(caFile, () => parseCertificates(ca)).map(String)
  if (cert !== undefined && key !== undefined) {
    const [certificate] = within(certFile, () => parseCertificates(cert))
    const privateKey = within(keyFile, () => parsePrivateKey(key))
    if (!certificate.checkPrivateKey(privateKey)) throw new Error(`${keyFile} holds the key of another certificate`)
  }
  return createSecureContext({ ca: authorities, cert, key, minVersion: 'TLSv1.2' })
}
