import type { ClientAuth, ClientCertificateHeader } from '../../http/tls/tls-options.ts'

/** A way by which client certificates reach Sidegate, and whether their chain is verified there. */
export interface CertificateSource {
  readonly by: 'tls' | 'header'
  readonly isChainVerified: boolean
}

/** The settings that determine the sources. */
export interface CertificateSourceSettings {
  readonly trustedProxies: readonly string[]
  readonly clientCertificateHeader: ClientCertificateHeader
  readonly tls?: { readonly clientAuth: ClientAuth; readonly clientCa_file?: string | undefined } | undefined
}

/** Every source that the configuration enables. */
export const certificateSources = (topLevel: CertificateSourceSettings): readonly CertificateSource[] => {
  const { tls, trustedProxies, clientCertificateHeader } = topLevel
  const asksItself = tls !== undefined && tls.clientAuth !== 'off'
  return [
    ...(asksItself ? [{ by: 'tls', isChainVerified: tls.clientCa_file !== undefined } as const] : []),
    ...(trustedProxies.length > 0 && clientCertificateHeader !== 'none'
      ? [{ by: 'header', isChainVerified: true } as const]
      : []),
  ]
}
