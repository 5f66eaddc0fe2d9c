import type { Server, TlsOptions as ServerOptions } from 'node:tls'
import { createTextFiles, type TextFiles } from '../../files/text-file.ts'
import type { CertificateEnds } from './pem.ts'
import {
  readTlsTexts,
  type TlsFileNames,
  type TlsFiles,
  type TlsTexts,
  timeFault,
  verifyTlsFiles,
} from './tls-files.ts'
import type { TlsOptions } from './tls-options.ts'

/** TLS of one listener: what its server is created with, and certificates that are renewed while it runs. */
export interface Tls {
  readonly serverOptions: ServerOptions
  /** New connections of this server get the certificate that is in the files; those under way keep theirs. */
  attach(server: Server): void
  /**
   * To be called when other CAs verify clients: what was verified at the handshake of a client with a certificate does not hold any
   * more.
   */
  onClientCaChange: (() => void) | undefined
  close(): void
}

/** Told of changes while the listener runs. */
export interface TlsReport {
  /** New connections get certificates with these ends: said at the start, and at each renewal. */
  serves(ends: CertificateEnds): void
  renewed(validTo: Date): void
  /**
   * The files hold nothing that can be served; what was there before is kept. Said once for each such content.
   * @param reason a sentence with the file's name
   * @param content the same for the same content
   */
  refused(reason: string, content: string): void
}

/** How often the files are looked at. Mounted secrets change by a swap of links, which watching a file does not see. */
const lookEveryMs = 2000

/** @throws Error where the files cannot be read or served */
export const openTls = async (
  options: TlsFileNames & Pick<TlsOptions, 'clientAuth'>,
  report: TlsReport,
  everyMs = lookEveryMs,
): Promise<Tls> => {
  const textFiles = createTextFiles()
  const files = verifyTlsFiles(await readTlsTexts(options, textFiles), options)
  report.serves(files.ends)
  const servers = new Set<Server>()
  const watch = createWatch({ names: options, textFiles, files, report, servers }, () => tls.onClientCaChange?.())
  const timer = setInterval(watch, everyMs)
  timer.unref()
  const tls: Tls = {
    serverOptions: {
      ...files.context,
      requestCert: options.clientAuth !== 'off',
      rejectUnauthorized: options.clientAuth === 'required',
      // A client that names HTTP/1.0 alone would be turned away at the handshake.
      ALPNProtocols: ['http/1.1', 'http/1.0'],
    },
    attach: server => void servers.add(server),
    onClientCaChange: undefined,
    close: () => clearInterval(timer),
  }
  return tls
}

interface Watched {
  readonly names: TlsFileNames
  readonly textFiles: TextFiles
  /** What is served at first. */
  readonly files: TlsFiles
  readonly report: TlsReport
  readonly servers: ReadonlySet<Server>
}

/** One look at the files. */
const createWatch = ({ names, textFiles, files, report, servers }: Watched, onClientCaChange: () => void) => {
  let inUse = files
  let suspect: string | undefined
  let refused: string | undefined
  let isLooking = false

  const serve = (texts: TlsTexts): void => {
    const renewed = verifyTlsFiles(texts, names)
    const nowMs = Date.now()
    const fault = timeFault(renewed.certificate, nowMs)
    if (fault !== undefined && timeFault(inUse.certificate, nowMs) === undefined) {
      throw new Error(`${names.certFile} ${fault}`)
    }
    for (const server of servers) server.setSecureContext(renewed.context)
    if (renewed.clientCa !== inUse.clientCa) onClientCaChange()
    inUse = renewed
    report.serves(renewed.ends)
    report.renewed(renewed.certificate.validToDate)
  }

  /** The second time that the same is found, so that a certificate whose key is a moment behind is no alarm. */
  const refuse = (content: string, error: unknown): void => {
    if (content === suspect && content !== refused) {
      refused = content
      report.refused(error instanceof Error ? error.message : String(error), content)
    }
    suspect = content
  }

  return async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    let content = 'unreadable'
    try {
      const texts = await readTlsTexts(names, textFiles)
      content = texts.digest
      if (content !== inUse.digest) serve(texts)
      suspect = refused = undefined
    } catch (error) {
      refuse(content, error)
    } finally {
      isLooking = false
    }
  }
}
