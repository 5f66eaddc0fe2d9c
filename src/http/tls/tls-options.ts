/** TLS on the traffic listener. Left out as a whole: plain HTTP, as behind a proxy that ends TLS. */
export interface TlsOptions {
  /** PEM: the server's certificate, the intermediate ones after it. Reread when it changes. */
  readonly certFile: string
  /** PEM, without a passphrase. */
  readonly keyFile: string
  /** PEM: the CAs that vouch for client certificates. Left out: nobody vouches for any, and self-signed ones alone count. */
  readonly clientCaFile?: string
  /**
   * `off`: clients are not asked for a certificate. `optional`: they are asked, and any will do at this door; what it is
   * good for is decided where it is used. `required`: the handshake fails without one that `clientCaFile` vouches for.
   */
  readonly clientAuth: ClientAuth
}

export const clientAuths = ['off', 'optional', 'required'] as const
export type ClientAuth = (typeof clientAuths)[number]

/**
 * In which header field a trusted proxy says which certificate the client showed it. `none`: in no field. It has to be
 * named: a field that the proxy neither sets nor removes would be the client's own word.
 */
export const clientCertificateHeaders = ['none', 'client-cert', 'x-forwarded-client-cert'] as const
export type ClientCertificateHeader = (typeof clientCertificateHeaders)[number]
