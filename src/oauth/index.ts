import type { AccessTokenRecord } from '../stores/ports.ts'
import type { Form } from './form.ts'
import type { ClientRegistration } from './options.ts'
import type { OAuthReply, OAuthRequest } from './wire.ts'

/**
 * The authorization server as the gateway uses it. Every method throws OAuthError for a refusal and
 * StoreUnavailableError when the store does not answer; the gateway turns both into answers.
 */
export interface AuthorizationServer {
  /** Parses a form-encoded POST body (RFC 6749 section 3.2): content type, duplicates, secrets in the query. */
  parseForm(request: OAuthRequest): Form
  /** Client authentication (RFC 6749 section 2.3): the proven client, or OAuthError invalid_client / invalid_request. */
  authenticate(form: Form, request: OAuthRequest): ClientRegistration | Promise<ClientRegistration>
  /**
   * The credentials of the metadata operation: `client_id` and `client_secret` of the query string, or HTTP Basic;
   * both at once is 400. Every client that has a secret may use them.
   */
  authenticateQuery(request: OAuthRequest): ClientRegistration | Promise<ClientRegistration>
  token(form: Form, client: ClientRegistration): OAuthReply | Promise<OAuthReply>
  introspect(form: Form, client: ClientRegistration): OAuthReply | Promise<OAuthReply>
  revoke(form: Form, client: ClientRegistration): OAuthReply | Promise<OAuthReply>
  /** The client that an authorization request names, if it is registered; nobody has proven anything. */
  namedClient(request: OAuthRequest): ClientRegistration | undefined
  authorize(request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** `GET` and `POST /interaction/<id>`: the embedded login and consent pages. */
  interaction(request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** RFC 8414. */
  metadata(): OAuthReply
  jwks(): OAuthReply
  /**
   * An access token presented to the gateway: its record, or undefined if it is not ours, not valid now, or was
   * revoked more than a second ago. Local for JWTs; opaque tokens are looked up at most once a second.
   */
  verifyAccessToken(token: string): AccessTokenRecord | undefined | Promise<AccessTokenRecord | undefined>
  /** Stops the timers. */
  close(): void
}
