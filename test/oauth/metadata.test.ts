import t from 'tap'
import { client, issuer, startServer } from './support/authorization-server.ts'

t.test('line 93, 94: the metadata name what is served, by the configured issuer', async t => {
  const { server } = await startServer(t)

  const { status, body } = server.metadata()

  t.equal(status, 200)
  t.same(body, {
    issuer,
    token_endpoint: `${issuer}/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
    authorization_endpoint: `${issuer}/authorize`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    introspection_endpoint: `${issuer}/introspect`,
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    revocation_endpoint: `${issuer}/revoke`,
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    jwks_uri: `${issuer}/jwks.json`,
    scopes_supported: ['read', 'write', 'offline_access'],
  })
})

t.test('line 94: what is not served, or has no entries, is not a member', async t => {
  const endpoints = { token: `${issuer}/token` }
  const { server } = await startServer(t, { endpoints, clients: [client('app', { scope: [] })] })

  t.same(Object.keys(server.metadata().body ?? {}), [
    'issuer',
    'token_endpoint',
    'token_endpoint_auth_methods_supported',
    'grant_types_supported',
  ])
})

t.test('line 94: each listed grant type is known to the token endpoint, and no other is', async t => {
  const { server, token } = await startServer(t)
  const listed = (server.metadata().body as { grant_types_supported: string[] }).grant_types_supported

  for (const grant_type of listed) {
    const { body } = await token({ grant_type }, { as: 'app' })
    t.not(body.error, 'unsupported_grant_type', grant_type)
  }
  for (const grant_type of ['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code']) {
    t.match(await token({ grant_type }, { as: 'app' }), { body: { error: 'unsupported_grant_type' } }, grant_type)
  }
})
