import type { AccessTokenRecord } from '../stores/ports/tokens.ts'
import { createRequestObjects } from './authorization/request-object.ts'
import { createClientKeyring } from './client-keys/keyring.ts'
import type { ProvenClient } from './clients/client-auth.ts'
import { createClientAuth } from './clients/client-auth.ts'
import type { ClientRegistration } from './clients/metadata.ts'
import type { OAuthDeps } from './deps.ts'
import { createAuthorize } from './endpoints/authorize.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { createIntrospectionEndpoint } from './endpoints/introspect.ts'
import { createMetadata } from './endpoints/metadata.ts'
import { createPush } from './endpoints/push.ts'
import { createResourceMetadata } from './endpoints/resource-metadata.ts'
import { createRevocationEndpoint } from './endpoints/revoke.ts'
import { createTokenEndpoint } from './endpoints/token.ts'
import { type Form, parseForm } from './forms/form.ts'
import { type Parameters, parseParameters, type UnreadableParameters } from './forms/parameters.ts'
import { memoizeLatest } from './functional.ts'
import { createAuthorizationCodeGrant } from './grants/authorization-code.ts'
import { createClientCredentialsGrant } from './grants/client-credentials.ts'
import type { Grant } from './grants/grant.ts'
import { createRefreshTokenGrant } from './grants/refresh-token.ts'
import { createSenderConstraintCheck } from './grants/sender-constraint.ts'
import { createInteraction } from './interaction/interaction.ts'
import { keySetMaxAgeSec } from './keys/rotation-schedule.ts'
import { pageContextOf } from './pages/page.ts'
import { type Refusal, refusalPage } from './pages/refusal-page.ts'
import type { OAuthReply, OAuthRequest } from './protocol.ts'
import { createReplayProtection, type SingleUse } from './replay-protection.ts'
import { createProofThrottle } from './secrets/proof-throttle.ts'
import type { ProvenRequest } from './sender-constraint/dpop-proof.ts'
import { createProofCheck, type ProvenKey } from './sender-constraint/dpop-proof-check.ts'
import { createAccessTokens } from './tokens/access-token.ts'
import { createIdentityAssertions, type SignIdentity } from './tokens/identity-assertion.ts'
import { createTokenLiveness } from './tokens/token-liveness.ts'
import { createVerifyAccessToken } from './tokens/verify-access-token.ts'

/**
 * The authorization server as the gateway uses it. Every method throws OAuthError for a refusal and
 * StoreUnavailableError if the store does not answer; the gateway turns both into responses.
 */
export interface AuthorizationServer {
  /** Parses a form-encoded POST body (RFC 6749 section 3.2): content type, duplicates, secrets in the query. */
  parseForm(request: OAuthRequest): Form
  /**
   * Client authentication (RFC 6749 section 2.3): the proven client, or OAuthError invalid_client / invalid_request.
   * If the proof may be used only once, the following operation runs the replay check, so it may still refuse the
   * client.
   */
  authenticate(form: Form, request: OAuthRequest): ProvenClient | Promise<ProvenClient>
  /**
   * Client authentication for the metadata operation: `client_id` and `client_secret` in the query string, or HTTP
   * Basic; both at once is 400. Every client with a secret may use it.
   */
  authenticateQuery(request: OAuthRequest): ClientRegistration | Promise<ClientRegistration>
  token(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  introspect(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  revoke(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** RFC 9126: validates and stores an authorization request, and responds with its `request_uri`. */
  par(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** Parses the query of a GET, or the form of a POST, that a browser sends (RFC 6749 section 3.1). */
  parseParameters(request: OAuthRequest): Parameters | UnreadableParameters
  /** The client that an authorization request names, if it is registered. It is not authenticated. */
  namedClient(sent: Parameters | UnreadableParameters): ClientRegistration | undefined
  authorize(request: OAuthRequest, sent: Parameters | UnreadableParameters): OAuthReply | Promise<OAuthReply>
  /** `GET` and `POST /interaction/<id>`: the embedded login and consent pages. */
  interaction(request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** The page for a browser that the gateway itself refuses at `authorize` or on the login pages. */
  refusalPage(refusal: Refusal): OAuthReply
  /** RFC 8414. */
  metadata(): OAuthReply
  jwks(): OAuthReply
  /** RFC 9728, by the path of the metadata; undefined if there is no resource at this path. */
  resourceMetadata(request: OAuthRequest): OAuthReply | undefined
  /**
   * Verifies an access token that was presented to the gateway: its record, or undefined if this server did not issue
   * it, or if it is not valid now or was revoked more than a second ago. Local for JWTs; opaque tokens are looked up
   * at most once a second.
   */
  verifyAccessToken(token: string): AccessTokenRecord | undefined | Promise<AccessTokenRecord | undefined>
  /**
   * Whether an access token has expired or was revoked since it yielded this record, for connections that stay open.
   * Local for JWTs; opaque tokens are looked up every few seconds, however often this is called.
   */
  isTokenExpiredOrRevoked(token: string, record: AccessTokenRecord): boolean | Promise<boolean>
  /**
   * Verifies the DPoP proof of a request (RFC 9449 section 4.3). Whether it was used before is known only after its
   * `use` was consumed.
   * @throws OAuthError invalid_dpop_proof; use_dpop_nonce with the nonce to use
   */
  verifyProof(request: ProvenRequest): ProvenKey
  /** Signs the identity of the caller for the service behind the gateway: `X-Sidegate-Assertion`. */
  readonly signIdentity: SignIdentity
  /** Runs replay checks. @throws OAuthError of the first value that was used before */
  consume(uses: readonly SingleUse[]): Promise<void>
}

/** All grant types: the token endpoint serves them, and the metadata list them. */
const createGrants = (deps: OAuthDeps): readonly Grant[] => [
  createClientCredentialsGrant(deps),
  createAuthorizationCodeGrant(deps),
  createRefreshTokenGrant(deps),
]

/** It owns no resources: the caller closes the keys, the store and the revocation feed. */
export const createAuthorizationServer = (deps: OAuthDeps): AuthorizationServer => {
  const grants = createGrants(deps)
  const throttle = createProofThrottle(deps)
  const clientKeys = createClientKeyring(deps.clock, deps.reportFetchFailure)
  const metadata = memoizeLatest(
    () => deps.clients.internedMetadata,
    internedMetadata => createMetadata({ ...deps.options, clients: { internedMetadata } }, grants),
  )
  const accessTokens = createAccessTokens(deps)
  const checkProof = createProofCheck(deps)
  const readObject = createRequestObjects(deps, clientKeys)
  const findResource = createResourceMetadata(deps.options)
  const verifyAccessToken = createVerifyAccessToken(deps, accessTokens)
  const replayProtection = createReplayProtection(deps.store.replays)
  const serve =
    (endpoint: Endpoint): AuthorizationServer['token'] =>
    (form, { client, pendingReplayChecks }, request) =>
      replayProtection.answer(pendingReplayChecks, storeQuery => endpoint(form, client, storeQuery, request))
  return {
    parseForm,
    ...createClientAuth({ ...deps, keyring: clientKeys, throttle }),
    token: serve(
      createTokenEndpoint(
        deps,
        grants,
        accessTokens,
        deps.revocations,
        createSenderConstraintCheck(deps.options, checkProof),
      ),
    ),
    introspect: serve(createIntrospectionEndpoint(deps, accessTokens)),
    revoke: serve(createRevocationEndpoint(deps, accessTokens)),
    parseParameters,
    namedClient: sent => (typeof sent === 'string' ? undefined : deps.clients.find(sent.get('client_id') ?? '')),
    par: serve(createPush(deps, readObject, checkProof)),
    authorize: createAuthorize(deps, readObject),
    interaction: createInteraction(deps),
    refusalPage: refusal => refusalPage(pageContextOf(deps.options.issuer, refusal), refusal),
    metadata: () => publicDocument(metadata()),
    jwks: () => publicDocument({ ...deps.keys.publicJwks() }),
    resourceMetadata: ({ path }) => {
      const found = findResource(path)
      return found && publicDocument(found)
    },
    verifyAccessToken,
    isTokenExpiredOrRevoked: createTokenLiveness(deps, verifyAccessToken),
    verifyProof: checkProof,
    signIdentity: createIdentityAssertions(deps),
    consume: replayProtection.consume,
  }
}

/**
 * The document is public, also for scripts of other origins (RFC 9700 section 2.6). A new key is published at least
 * as long as this response may be cached before it signs.
 */
const publicDocument = (body: Readonly<Record<string, unknown>>): OAuthReply => ({
  status: 200,
  headers: { 'cache-control': `public, max-age=${keySetMaxAgeSec}`, 'access-control-allow-origin': '*' },
  body,
})
