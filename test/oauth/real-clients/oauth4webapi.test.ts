import * as oauth from 'oauth4webapi'
import t from 'tap'
import { signInAndAllow } from '../support/running.ts'
import { callback, type Fetch, startSecureGateway } from './support/secure-gateway.ts'

/** The strict library `oauth4webapi`, message by message, against the running gateway over TLS. */

t.test('oauth4webapi runs every flow', async t => {
  const gateway = await startSecureGateway(t)
  const { issuer } = gateway
  const by = (fetch: Fetch = gateway.fetch) => ({ [oauth.customFetch]: fetch as unknown as never })
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...by() })
  const server = await oauth.processDiscoveryResponse(issuer, discovered)

  const methods: Readonly<Record<string, readonly [oauth.ClientAuth, Fetch]>> = {
    basic: [oauth.ClientSecretBasic('basic-secret'), gateway.fetch],
    post: [oauth.ClientSecretPost('post-secret'), gateway.fetch],
    jwt: [oauth.PrivateKeyJwt({ key: gateway.assertionKey, kid: 'assertion' }), gateway.fetch],
    tls: [oauth.TlsClientAuth(), gateway.fetchAsClient],
    'self-signed': [oauth.TlsClientAuth(), gateway.fetchSelfSigned],
  }
  for (const [client_id, [authentication, fetch]] of Object.entries(methods)) {
    await t.test(`client credentials and introspection, plain and signed, as ${client_id}`, async t => {
      const client: oauth.Client = { client_id, introspection_signed_response_alg: 'ES256' }
      const issued = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        authentication,
        { scope: 'read' },
        by(fetch),
      )
      const { access_token } = await oauth.processClientCredentialsResponse(server, client, issued)

      for (const requestJwtResponse of [false, true]) {
        const options = { requestJwtResponse, ...by(fetch) }
        const asked = await oauth.introspectionRequest(server, client, authentication, access_token, options)
        const answer = await oauth.processIntrospectionResponse(server, client, asked)
        t.match(answer, { active: true, client_id, scope: 'read' })
        if (requestJwtResponse) await oauth.validateApplicationLevelSignature(server, asked, by())
      }
      const revoked = await oauth.revocationRequest(server, client, authentication, access_token, by(fetch))
      await oauth.processRevocationResponse(revoked)
    })
  }

  await t.test(
    'a resource names its authorization server (RFC 9728), and its token has only this audience (RFC 8707)',
    async t => {
      const resource = new URL('/accounts', issuer)
      const refused = await gateway.fetch(resource)
      const described = await oauth.resourceDiscoveryRequest(resource, by())
      const { authorization_servers } = await oauth.processResourceDiscoveryResponse(resource, described)
      t.match(refused.headers.get('www-authenticate'), /resource_metadata="https:\/\/localhost:/)
      t.same(authorization_servers, [issuer.origin])

      const client = { client_id: 'basic' }
      const parameters = { scope: 'read', resource: resource.href }
      const authentication = oauth.ClientSecretBasic('basic-secret')
      const issued = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, by())
      const { access_token } = await oauth.processClientCredentialsResponse(server, client, issued)

      const request = new Request(resource, { headers: { authorization: `Bearer ${access_token}` } })
      const claims = await oauth.validateJwtAccessToken(server, request, resource.href, by())
      t.same(claims.aud, resource.href)
    },
  )

  await t.test('a public client: code with PAR and DPoP, a bound refresh token', async t => {
    const client: oauth.Client = { client_id: 'spa' }
    const none = oauth.None()
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'))
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const parameters = {
      response_type: 'code',
      redirect_uri: callback,
      scope: 'read',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }
    /** Repeats the request if the first attempt only returned a nonce. */
    const withNonce = async <T>(attempt: () => Promise<T>): Promise<T> => {
      try {
        return await attempt()
      } catch (error) {
        if (!oauth.isDPoPNonceError(error)) throw error
        return attempt()
      }
    }

    const { request_uri } = await withNonce(async () => {
      const response = await oauth.pushedAuthorizationRequest(server, client, none, parameters, { DPoP, ...by() })
      return oauth.processPushedAuthorizationResponse(server, client, response)
    })
    const url = new URL(server.authorization_endpoint ?? '')
    url.search = new URLSearchParams({ client_id: 'spa', request_uri }).toString()
    const answer = oauth.validateAuthResponse(server, client, await signInAndAllow(url, gateway.fetch), state)
    const first = await withNonce(async () => {
      const options = { DPoP, ...by() }
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        none,
        answer,
        callback,
        verifier,
        options,
      )
      return oauth.processAuthorizationCodeResponse(server, client, response)
    })
    t.equal(first.token_type, 'dpop')

    const refresh = (options: oauth.TokenEndpointRequestOptions) =>
      withNonce(async () => {
        const response = await oauth.refreshTokenGrantRequest(server, client, none, first.refresh_token ?? '', options)
        return oauth.processRefreshTokenResponse(server, client, response)
      })
    const stranger = oauth.DPoP(client, await oauth.generateKeyPair('ES256'))
    t.match(await refresh({ DPoP: stranger, ...by() }).catch(error => error), { error: 'invalid_grant' })
    t.match(await refresh(by()).catch(error => error), { error: /invalid_(grant|dpop_proof)/ })
    const second = await refresh({ DPoP, ...by() })
    t.equal(second.token_type, 'dpop')
  })
})
