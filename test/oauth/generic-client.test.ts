import * as oauth from 'oauth4webapi'
import t, { type Test } from 'tap'
import { callback, signInAndAllow, startOAuth } from './support/running.ts'

/** The gateway of these tests speaks plain HTTP on a loopback address. */
const plainHttp = { [oauth.allowInsecureRequests]: true }

const discover = async (t: Test) => {
  const { url } = await startOAuth(t)
  const issuer = new URL(url)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plainHttp })
  return { url, server: await oauth.processDiscoveryResponse(issuer, response) }
}

t.test('a strict generic client finds everything it needs through discovery', async t => {
  const { url, server } = await discover(t)
  const client = { client_id: 'app' }
  const auth = oauth.ClientSecretBasic('app-secret')

  const issued = await oauth.clientCredentialsGrantRequest(server, client, auth, { scope: 'read' }, plainHttp)
  const { access_token } = await oauth.processClientCredentialsResponse(server, client, issued)
  const introspect = async () => {
    const response = await oauth.introspectionRequest(server, client, auth, access_token, plainHttp)
    return oauth.processIntrospectionResponse(server, client, response)
  }

  t.match(await introspect(), {
    active: true,
    iss: url,
    client_id: 'app',
    sub: 'app',
    scope: 'read',
    token_type: 'Bearer',
  })
  const request = new Request(url, { headers: { authorization: `Bearer ${access_token}` } })
  t.match(await oauth.validateJwtAccessToken(server, request, url, plainHttp), { client_id: 'app', scope: 'read' })
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, auth, access_token, plainHttp))
  t.same(await introspect(), { active: false })
})

t.test('a public client signs a user in, refreshes, and loses its grant when an old token is used again', async t => {
  const { server } = await discover(t)
  const client = { client_id: 'spa' }
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const authorization = new URL(server.authorization_endpoint ?? '')
  authorization.search = new URLSearchParams({
    client_id: 'spa',
    response_type: 'code',
    redirect_uri: callback,
    scope: 'read',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()

  const answer = oauth.validateAuthResponse(server, client, await signInAndAllow(authorization), state)
  const none = oauth.None()
  const redeemed = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    none,
    answer,
    callback,
    verifier,
    plainHttp,
  )
  const first = await oauth.processAuthorizationCodeResponse(server, client, redeemed)
  const refresh = async (token: string | undefined) => {
    const response = await oauth.refreshTokenGrantRequest(server, client, none, token ?? '', plainHttp)
    return oauth.processRefreshTokenResponse(server, client, response)
  }

  const second = await refresh(first.refresh_token)
  const third = await refresh(second.refresh_token)

  t.equal(third.scope, 'read')
  t.equal(new Set([first, second, third].map(tokens => tokens.refresh_token)).size, 3)
  t.match(await refresh(first.refresh_token).catch(error => error), { error: 'invalid_grant' })
  t.match(await refresh(third.refresh_token).catch(error => error), { error: 'invalid_grant' })
})
