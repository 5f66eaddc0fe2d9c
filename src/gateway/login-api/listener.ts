import { createHttpServer, type HttpServer } from '../../http/server/http-server.ts'
import { defaultHttpServerOptions } from '../../http/server/options.ts'
import { openTls, type TlsReport } from '../../http/tls/tls.ts'
import type { TlsOptions } from '../../http/tls/tls-options.ts'
import type { JwkSet } from '../../oauth/client-keys/public-keys.ts'
import type { OAuthDeps } from '../../oauth/deps.ts'
import { createLoginAppAuthentication } from '../../oauth/interaction/authenticate-login-app.ts'
import { createLoginApi } from '../../oauth/interaction/login-api.ts'
import { createInternalApi, type InternalApi, type InternalApiDeps } from './api.ts'

export interface PrivateListenerOptions {
  /**
   * Left out: plain HTTP, for a loopback address. With `clientCaFile` a certificate of that CA authenticates the
   * client.
   */
  readonly tls?: TlsOptions
  /** Public keys that verify the client's JWTs. Left out: JWTs are not accepted. */
  readonly jwks?: JwkSet
}

export interface PrivateListenerDeps extends Pick<InternalApiDeps, 'log' | 'accessLog'> {
  readonly oauth: OAuthDeps
  readonly certificates: TlsReport
}

/**
 * The listener for the operator's own login application. The caller decides where it listens, which is never the
 * traffic port.
 */
export interface PrivateListener extends Pick<InternalApi, 'startDraining' | 'inFlight'> {
  readonly traffic: HttpServer
  /** Answers later calls with another configuration of the authorization server. */
  serve(oauth: OAuthDeps): void
  close(): void
}

/** @throws Error if the certificate files cannot be served */
export const openPrivateListener = async (
  options: PrivateListenerOptions,
  { oauth, certificates, ...deps }: PrivateListenerDeps,
): Promise<PrivateListener> => {
  const { tls: files, jwks } = options
  const tls = files && (await openTls(files, certificates))
  const partsFor = (oauth: OAuthDeps): Pick<InternalApiDeps, 'loginApi' | 'caller'> => ({
    loginApi: createLoginApi(oauth),
    caller: {
      takesCertificates: files?.clientCaFile !== undefined,
      nowMs: oauth.clock.nowMs,
      ...(jwks && { proof: createLoginAppAuthentication(oauth, jwks) }),
    },
  })
  let parts = partsFor(oauth)
  const api = createInternalApi({
    ...deps,
    get loginApi() {
      return parts.loginApi
    },
    get caller() {
      return parts.caller
    },
  })
  return {
    traffic: createHttpServer(defaultHttpServerOptions, api.handlers, tls),
    startDraining: api.startDraining,
    inFlight: api.inFlight,
    serve(oauth) {
      parts = partsFor(oauth)
    },
    close: () => tls?.close(),
  }
}
