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

/** TLS of one listener: the options of its server, and certificates that are renewed while it runs. */
export interface Tls {
  readonly serverOptions: ServerOptions
  /** New connections of this server get the certificate that is in the files. Existing connections keep theirs. */
  attach(server: Server): void
  /**
   * Called when other CAs verify clients: certificates that were verified at an earlier handshake no longer count as
   * verified.
   */
  onClientCaChange: (() => void) | undefined
  close(): void
}

/** Receives changes while the listener runs. */
export interface TlsReport {
  /** New connections get certificates with these expiry times. Called at the start and at each renewal. */
  serves(ends: CertificateEnds): void
  renewed(validTo: Date): void
  /**
   * The content of the files cannot be served, so the previous content is kept. Called once for each such content.
   * @param reason a sentence with the file's name
   * @param content the same for the same content
   */
  refused(reason: string, content: string): void
}

/**
 * How often the files are read. Mounted secrets change by a swap of symbolic links, which `fs.watch` does not report.
 */
const readEveryMs = 2000

/** @throws Error if the files cannot be read or served */
export const openTls = async (
  options: TlsFileNames & Pick<TlsOptions, 'clientAuth'>,
  report: TlsReport,
  everyMs = readEveryMs,
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
      // Without `http/1.0` the handshake would fail for a client that offers only HTTP/1.0.
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
  /** The first content. */
  readonly files: TlsFiles
  readonly report: TlsReport
  readonly servers: ReadonlySet<Server>
}

/** Returns a function that reads the files once. */
const createWatch = ({ names, textFiles, files, report, servers }: Watched, onClientCaChange: () => void) => {
  let inUse = files
  let suspect: string | undefined
  let refused: string | undefined
  let isReading = false

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

  /**
   * Reports the second time that the same content is read, so that a certificate is not reported whose key is written a
   * moment later.
   */
  const refuse = (content: string, error: unknown): void => {
    if (content === suspect && content !== refused) {
      refused = content
      report.refused(error instanceof Error ? error.message : String(error), content)
    }
    suspect = content
  }

  return async (): Promise<void> => {
    if (isReading) return
    isReading = true
    let content = 'unreadable'
    try {
      const texts = await readTlsTexts(names, textFiles)
      content = texts.digest
      if (content !== inUse.digest) serve(texts)
      suspect = refused = undefined
    } catch (error) {
      refuse(content, error)
    } finally {
      isReading = false
    }
  }
}
