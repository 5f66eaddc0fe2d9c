/** TLS of the traffic listener. Left out: plain HTTP, for a listener behind a proxy that terminates TLS. */
export interface TlsOptions {
  /** PEM: the server's certificate, followed by the intermediate ones. Read again when it changes. */
  readonly certFile: string
  /** PEM, without a passphrase. */
  readonly keyFile: string
  /**
   * PEM: the CAs that verify client certificates. Left out: no client certificate is verified, and only self-signed
   * ones are accepted.
   */
  readonly clientCaFile?: string
  /**
   * `off`: clients are not asked for a certificate. `optional`: they are asked, and the handshake accepts any
   * certificate; the operation decides what it is good for. `required`: the handshake fails without a certificate that
   * `clientCaFile` verifies.
   */
  readonly clientAuth: ClientAuth
}

export const clientAuths = ['off', 'optional', 'required'] as const
export type ClientAuth = (typeof clientAuths)[number]

/**
 * The header field in which a trusted proxy forwards the client's certificate. `none`: no field. The operator must
 * choose it, because a field that the proxy neither sets nor removes would come from the client.
 */
export const clientCertificateHeaders = ['none', 'client-cert', 'x-forwarded-client-cert'] as const
export type ClientCertificateHeader = (typeof clientCertificateHeaders)[number]
