import type { Test } from 'tap'
import { startStrictUpstream } from '../../../support/recording-upstream.ts'
import type { RunningSidegate, TestConfig } from '../../../support/sidegate.ts'
import { startOAuth, users } from '../../support/running.ts'
import { createFapiClient, type FapiClient, redirect_uri } from './fapi-client.ts'
import { newKey, type TestKey } from './jws.ts'

export interface RunningFapi {
  readonly gateway: RunningSidegate
  readonly url: string
  readonly tpp: FapiClient
  /** The key of `tpp`'s assertions and request objects. */
  readonly tppKey: TestKey
  /** Another client with another key. */
  readonly other: FapiClient
}

/** The real program with `profile: fapi2`, two clients with keys, and an API below `/accounts`. */
export const startFapi = async (
  t: Test,
  changes: TestConfig = {},
  clientChanges: TestConfig = {},
): Promise<RunningFapi> => {
  const upstream = await startStrictUpstream(t)
  const [tppKey, otherKey] = [newKey('PS256'), newKey('ES256')]
  const gateway = await startOAuth(t, {
    profile: 'fapi2',
    groupings: [
      { name: 'OAuth', operations },
      {
        name: 'Accounts',
        basePath: '/accounts',
        upstream: 'accounts',
        operations: [{ method: 'GET', path: '/**', scopes: ['accounts'] }],
      },
    ],
    upstreams: { accounts: { targets: [upstream.url] } },
    clients: [client('tpp', tppKey, clientChanges), client('other', otherKey, clientChanges)],
    // The tests cause more failures than a client is allowed.
    login: { failures: '1000/1minute', users: await users() },
    ...changes,
  })
  const { url } = gateway
  return {
    gateway,
    url,
    tppKey,
    tpp: createFapiClient(url, 'tpp', tppKey),
    other: createFapiClient(url, 'other', otherKey),
  }
}

const client = (client_id: string, key: TestKey, changes: TestConfig): TestConfig => ({
  client_id,
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  redirect_uris: [redirect_uri],
  scope: 'accounts payments',
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: { keys: [key.publicJwk] },
  dpop_bound_access_tokens: true,
  ...changes,
})

const operations = [
  { method: 'POST', path: '/token', serves: 'token' },
  { method: 'POST', path: '/par', serves: 'par' },
  { method: 'POST', path: '/introspect', serves: 'introspect' },
  { method: 'POST', path: '/revoke', serves: 'revoke' },
  { method: 'GET', path: '/authorize', serves: 'authorize' },
  { method: 'POST', path: '/authorize', serves: 'authorize' },
  { method: 'GET', path: '/.well-known/oauth-authorization-server', serves: 'discovery', plan: 'none' },
  { method: 'GET', path: '/.well-known/jwks.json', serves: 'jwks', plan: 'none' },
]
