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
import { pageContextOf } from './pages/page-context.ts'
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
 * StoreUnavailableError when the store does not answer; the gateway turns both into answers.
 */
export interface AuthorizationServer {
  /** Parses a form-encoded POST body (RFC 6749 section 3.2): content type, duplicates, secrets in the query. */
  parseForm(request: OAuthRequest): Form
  /**
   * Client authentication (RFC 6749 section 2.3): the proven client, or OAuthError invalid_client / invalid_request. What
   * proves it may be good for one time, and is spent by the operation that follows: it may refuse the client too.
   */
  authenticate(form: Form, request: OAuthRequest): ProvenClient | Promise<ProvenClient>
  /**
   * The credentials of the metadata operation: `client_id` and `client_secret` of the query string, or HTTP Basic;
   * both at once is 400. Every client that has a secret may use them.
   */
  authenticateQuery(request: OAuthRequest): ClientRegistration | Promise<ClientRegistration>
  token(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  introspect(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  revoke(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** RFC 9126: checks an authorization request, keeps it, and answers with its name. */
  par(form: Form, proven: ProvenClient, request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** Parses the query of a GET, or the form of a POST, that a browser carries (RFC 6749 section 3.1). */
  parseParameters(request: OAuthRequest): Parameters | UnreadableParameters
  /** The client that an authorization request names, if it is registered; nobody has proven anything. */
  namedClient(sent: Parameters | UnreadableParameters): ClientRegistration | undefined
  authorize(request: OAuthRequest, sent: Parameters | UnreadableParameters): OAuthReply | Promise<OAuthReply>
  /** `GET` and `POST /interaction/<id>`: the embedded login and consent pages. */
  interaction(request: OAuthRequest): OAuthReply | Promise<OAuthReply>
  /** What a browser sees when the gateway itself refuses it at `authorize` or on the login pages. */
  refusalPage(refusal: Refusal): OAuthReply
  /** RFC 8414. */
  metadata(): OAuthReply
  jwks(): OAuthReply
  /** RFC 9728, by the path it is served at; undefined where no resource is described. */
  resourceMetadata(request: OAuthRequest): OAuthReply | undefined
  /**
   * An access token presented to the gateway: its record, or undefined if it is not ours, not valid now, or was
   * revoked more than a second ago. Local for JWTs; opaque tokens are looked up at most once a second.
   */
  verifyAccessToken(token: string): AccessTokenRecord | undefined | Promise<AccessTokenRecord | undefined>
  /**
   * Whether an access token has expired or was revoked since it gave this record, for whoever uses it over a longer time.
   * Local for JWTs; opaque tokens are looked up every few seconds, however often this is asked.
   */
  isTokenExpiredOrRevoked(token: string, record: AccessTokenRecord): boolean | Promise<boolean>
  /**
   * The DPoP proof sent with a request (RFC 9449 section 4.3): who holds its key. That it was not used before is known once
   * its `use` is spent.
   * @throws OAuthError invalid_dpop_proof; use_dpop_nonce with the nonce to use
   */
  verifyProof(request: ProvenRequest): ProvenKey
  /** Who is calling, signed for the service behind the gateway: `X-Sidegate-Assertion`. */
  readonly signIdentity: SignIdentity
  /** Spends what may be used once. @throws OAuthError of the first that was used before */
  consume(uses: readonly SingleUse[]): Promise<void>
}

/** Every grant type there is: the token endpoint serves this list, and the metadata name it. */
const createGrants = (deps: OAuthDeps): readonly Grant[] => [
  createClientCredentialsGrant(deps),
  createAuthorizationCodeGrant(deps),
  createRefreshTokenGrant(deps),
]

/** Holds nothing open: keys, store and what was revoked belong to whoever opened them. */
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
      replayProtection.answer(pendingReplayChecks, ask => endpoint(form, client, ask, request))
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
 * Anybody may read it, also a script of another origin (RFC 9700 section 2.6). A new key is published for at least as
 * long as it may be cached before it signs.
 */
const publicDocument = (body: Readonly<Record<string, unknown>>): OAuthReply => ({
  status: 200,
  headers: { 'cache-control': `public, max-age=${keySetMaxAgeSec}`, 'access-control-allow-origin': '*' },
  body,
})
