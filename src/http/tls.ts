import { createSecureContext, type Server, type TlsOptions as ServerOptions } from 'node:tls'
import { readTlsTexts, type TlsFileNames, type TlsTexts, verifyTlsFiles } from './tls-files.ts'
import type { TlsOptions } from './tls-options.ts'

/** TLS of one listener: what its server is created with, and certificates that are renewed while it runs. */
export interface Tls {
  readonly serverOptions: ServerOptions
  /** New connections of this server get the certificate that is in the files; those under way keep theirs. */
  renew(server: Server): void
  close(): void
}

/** Told of changes while the listener runs. */
export interface TlsReport {
  renewed(validTo: Date): void
  /** The files hold nothing that can be served; what was there before is kept. Said once for each such content. */
  refused(error: Error): void
}

/** How often the files are looked at. Mounted secrets change by a swap of links, which watching a file does not see. */
const lookEveryMs = 2000

/** @throws Error where the files cannot be read or served */
export const openTls = async (
  options: TlsFileNames & Pick<TlsOptions, 'clientAuth'>,
  report: TlsReport,
  everyMs = lookEveryMs,
): Promise<Tls> => {
  const files = verifyTlsFiles(await readTlsTexts(options))
  const servers = new Set<Server>()
  const watch = createWatch(options, files.digest, report, servers)
  const timer = setInterval(watch, everyMs)
  timer.unref()
  return {
    serverOptions: {
      ...files.context,
      requestCert: options.clientAuth !== 'off',
      rejectUnauthorized: options.clientAuth === 'required',
      ALPNProtocols: ['http/1.1'],
    },
    renew: server => void servers.add(server),
    close: () => clearInterval(timer),
  }
}

/** One look at the files. */
const createWatch = (names: TlsFileNames, digest: string, report: TlsReport, servers: ReadonlySet<Server>) => {
  let inUse = digest
  let suspect: string | undefined
  let refused: string | undefined
  let isLooking = false

  const serve = (texts: TlsTexts): void => {
    const { context, validTo } = verifyTlsFiles(texts)
    createSecureContext(context)
    for (const server of servers) server.setSecureContext(context)
    inUse = texts.digest
    report.renewed(validTo)
  }

  /** The second time that the same is found, so that a certificate whose key is a moment behind is no alarm. */
  const refuse = (content: string, error: unknown): void => {
    if (content === suspect && content !== refused) {
      refused = content
      report.refused(error instanceof Error ? error : new Error(String(error)))
    }
    suspect = content
  }

  return async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    let content = 'unreadable'
    try {
      const texts = await readTlsTexts(names)
      content = texts.digest
      if (content !== inUse) serve(texts)
      suspect = refused = undefined
    } catch (error) {
      refuse(content, error)
    } finally {
      isLooking = false
    }
  }
}
