import * as oidc from 'openid-client'
import t, { type Test } from 'tap'
import { signInAndAllow } from '../support/running.ts'
import { callback, type Fetch, type SecureGateway, startSecureGateway } from './support/secure-gateway.ts'

/** The library `openid-client`, as an application uses it, against the running gateway over TLS. */

const discover = (
  { issuer, fetch }: SecureGateway,
  client_id: string,
  authentication: oidc.ClientAuth,
  as: Fetch = fetch,
  metadata: Partial<oidc.ClientMetadata> = {},
): Promise<oidc.Configuration> =>
  oidc.discovery(issuer, client_id, metadata, authentication, {
    algorithm: 'oauth2',
    [oidc.customFetch]: as as oidc.CustomFetch,
  })

t.test('openid-client runs every flow', async t => {
  const gateway = await startSecureGateway(t)

  const methods: Readonly<Record<string, readonly [oidc.ClientAuth, Fetch]>> = {
    basic: [oidc.ClientSecretBasic('basic-secret'), gateway.fetch],
    post: [oidc.ClientSecretPost('post-secret'), gateway.fetch],
    jwt: [oidc.PrivateKeyJwt({ key: gateway.assertionKey, kid: 'assertion' }), gateway.fetch],
    tls: [oidc.TlsClientAuth(), gateway.fetchAsClient],
    'self-signed': [oidc.TlsClientAuth(), gateway.fetchSelfSigned],
  }
  for (const [client_id, [authentication, fetch]] of Object.entries(methods)) {
    await t.test(`client credentials, introspection and revocation as ${client_id}`, async t => {
      const config = await discover(gateway, client_id, authentication, fetch)

      const { access_token, token_type } = await oidc.clientCredentialsGrant(config, { scope: 'read' })

      t.equal(token_type, 'bearer')
      t.match(await oidc.tokenIntrospection(config, access_token), { active: true, client_id, scope: 'read' })
      const answer = await oidc.fetchProtectedResource(config, access_token, accountsOf(gateway), 'GET')
      t.equal(answer.status, 200)
      await oidc.tokenRevocation(config, access_token)
      t.same(await oidc.tokenIntrospection(config, access_token), { active: false })
    })
    await t.test(`client credentials with DPoP as ${client_id}`, async t => {
      const config = await discover(gateway, client_id, authentication, fetch)
      const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'))

      const { access_token, token_type } = await oidc.clientCredentialsGrant(config, { scope: 'read' }, { DPoP })

      t.equal(token_type, 'dpop')
      const url = accountsOf(gateway)
      const answer = await oidc.fetchProtectedResource(config, access_token, url, 'GET', null, undefined, { DPoP })
      t.equal(answer.status, 200)
    })
  }

  await t.test('a certificate-bound token is refused without its certificate', async t => {
    const config = await discover(gateway, 'tls', oidc.TlsClientAuth(), gateway.fetchAsClient)
    const { access_token } = await oidc.clientCredentialsGrant(config, { scope: 'read' })
    const headers = { authorization: `Bearer ${access_token}` }

    t.equal((await gateway.fetchAsClient(accountsOf(gateway), { headers })).status, 200)
    t.equal((await gateway.fetch(accountsOf(gateway), { headers })).status, 401)
    t.equal((await gateway.fetchSelfSigned(accountsOf(gateway), { headers })).status, 401)
  })

  for (const client_id of ['jwt', 'tls', 'basic', 'spa']) {
    await t.test(`code with PAR, PKCE and DPoP, then refresh, as ${client_id}`, async t => {
      const [authentication, fetch] = methods[client_id] ?? [oidc.None(), gateway.fetch]
      const config = await discover(gateway, client_id, authentication, fetch)
      const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'))
      await refresh(t, gateway, config, DPoP)
    })
  }

  await t.test('signed introspection (RFC 9701) is verified by the library', async t => {
    const authentication = oidc.ClientSecretBasic('basic-secret')
    const config = await discover(gateway, 'basic', authentication, gateway.fetch, {
      introspection_signed_response_alg: 'ES256',
    })
    oidc.enableNonRepudiationChecks(config)
    const { access_token } = await oidc.clientCredentialsGrant(config, { scope: 'read' })

    t.match(await oidc.tokenIntrospection(config, access_token), { active: true, client_id: 'basic' })
  })

  await t.test('a signed request object (RFC 9101) in place of parameters', async t => {
    const config = await discover(gateway, 'jwt', methods.jwt?.[0] ?? oidc.None())
    const verifier = oidc.randomPKCECodeVerifier()
    const parameters = await authorizationParameters(verifier)
    const url = await oidc.buildAuthorizationUrlWithJAR(config, parameters, {
      key: gateway.assertionKey,
      kid: 'assertion',
    })

    const done = await signInAndAllow(url, gateway.fetch)

    const tokens = await oidc.authorizationCodeGrant(config, done, {
      pkceCodeVerifier: verifier,
      expectedState: 'a-state',
    })
    t.equal(tokens.scope, 'read')
  })
})

const accountsOf = ({ issuer }: SecureGateway): URL => new URL('/accounts', issuer)

const authorizationParameters = async (verifier: string) => ({
  redirect_uri: callback,
  scope: 'read',
  state: 'a-state',
  code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})

/** From the pushed request to the second access token; the API accepts both tokens. */
const refresh = async (t: Test, gateway: SecureGateway, config: oidc.Configuration, DPoP: oidc.DPoPHandle) => {
  const verifier = oidc.randomPKCECodeVerifier()
  const url = await oidc.buildAuthorizationUrlWithPAR(config, await authorizationParameters(verifier), { DPoP })
  const done = await signInAndAllow(url, gateway.fetch)
  const checks = { pkceCodeVerifier: verifier, expectedState: 'a-state' }
  const first = await oidc.authorizationCodeGrant(config, done, checks, undefined, { DPoP })
  const second = await oidc.refreshTokenGrant(config, first.refresh_token ?? '', undefined, { DPoP })

  for (const { access_token, token_type } of [first, second]) {
    t.equal(token_type, 'dpop')
    const place = accountsOf(gateway)
    const answer = await oidc.fetchProtectedResource(config, access_token, place, 'GET', null, undefined, { DPoP })
    t.equal(answer.status, 200)
  }
}
