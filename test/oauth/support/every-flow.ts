import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import { createFapiClient, type FapiClient, redirect_uri } from '../fapi/support/fapi-client.ts'
import { newKey } from '../fapi/support/jws.ts'
import { verifier } from './authorization-server.ts'
import { assertionFields } from './client-keys.ts'
import { type Fields, type Posted, post } from './post.ts'
import { callback, signInAndAllow, startOAuth, users } from './running.ts'

/** A running gateway and the flows of its clients: `app` is confidential, `spa` public, `tpp` has keys and pushes. */
export interface Flows {
  readonly tpp: FapiClient
  token(fields: Fields, client_id: 'app' | 'spa'): Promise<Posted>
  introspect(token: unknown, hint?: string): Promise<Posted>
  /** The same by `tpp`, with an assertion. */
  introspectByAssertion(token: unknown): Promise<Posted>
  revoke(token: unknown): Promise<Posted>
  /** The tokens of a grant of alice. */
  signIn(client_id: 'app' | 'spa'): Promise<Posted>
  /** A token request with a code from the consent of alice. */
  newRedemption(client_id: 'app' | 'spa'): Promise<Fields>
  /** The first page of a sign-in. */
  begin(client_id: 'app' | 'spa'): Promise<Response>
}

export const startFlows = async (t: Parameters<typeof startOAuth>[0], config: object): Promise<Flows> => {
  const key = newKey('PS256')
  const tpp = {
    client_id: 'tpp',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [key.publicJwk] },
    dpop_bound_access_tokens: true,
    grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    redirect_uris: [redirect_uri],
    scope: 'accounts',
  }
  const person = {
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [callback],
    scope: 'read write',
  }
  const app = { ...person, grant_types: [...person.grant_types, 'client_credentials'] }
  const { url } = await startOAuth(t, {
    workers: 1,
    clients: [
      { ...app, client_id: 'app', client_secret: 'app-secret' },
      { ...person, client_id: 'spa', token_endpoint_auth_method: 'none' },
      tpp,
    ],
    login: { users: await users() },
    ...config,
  })
  return createFlows(url, createFapiClient(url, 'tpp', key))
}

const createFlows = (url: string, tpp: FapiClient): Flows => {
  const token: Flows['token'] = (fields, client_id) =>
    client_id === 'spa' ? post(`${url}/token`, { ...fields, client_id }) : post(`${url}/token`, fields, client_id)
  const toAuthorization = (client_id: string): URL => {
    const parameters = {
      client_id,
      response_type: 'code',
      redirect_uri: callback,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    }
    return new URL(`${url}/authorize?${new URLSearchParams(parameters)}`)
  }
  const newRedemption: Flows['newRedemption'] = async client_id => {
    const code = (await signInAndAllow(toAuthorization(client_id))).searchParams.get('code') ?? ''
    return { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
  }
  return {
    tpp,
    token,
    newRedemption,
    signIn: async client_id => token(await newRedemption(client_id), client_id),
    introspect: (text, hint) =>
      post(`${url}/introspect`, { token: String(text), ...(hint && { token_type_hint: hint }) }, 'app'),
    introspectByAssertion: text =>
      post(`${url}/introspect`, { token: String(text), ...assertionFields(tpp.assertion()) }),
    revoke: text => post(`${url}/revoke`, { token: String(text) }, 'app'),
    begin: client_id => fetch(toAuthorization(client_id), { redirect: 'manual' }),
  }
}

export const refreshOf = (refresh_token: unknown, scope?: string): Fields => ({
  grant_type: 'refresh_token',
  refresh_token: String(refresh_token),
  ...(scope && { scope }),
})

/** Runs every flow that writes to the store once; resolves to the statuses of all responses. */
export const runEveryFlow = async (flows: Flows): Promise<readonly number[]> => {
  const statuses: number[] = []
  const note = async <Answer extends { readonly status: number }>(answer: Promise<Answer>): Promise<Answer> => {
    const settled = await answer
    statuses.push(settled.status)
    return settled
  }
  const { tpp } = flows
  const { body: machine } = await note(flows.token({ grant_type: 'client_credentials' }, 'app'))
  await note(flows.introspect(machine.access_token))
  await note(flows.revoke(machine.access_token))

  const { body: kept } = await note(flows.signIn('app'))
  await note(flows.token(refreshOf(kept.refresh_token, 'read'), 'app'))
  await note(flows.revoke(kept.refresh_token))

  const redemption = await flows.newRedemption('spa')
  await note(flows.token({ ...redemption, code_verifier: `${verifier.slice(1)}x` }, 'spa'))
  const { body: first } = await note(flows.token(redemption, 'spa'))
  const { body: second } = await note(flows.token(refreshOf(first.refresh_token), 'spa'))
  await note(flows.token(refreshOf(second.refresh_token), 'spa'))
  await note(flows.token(redemption, 'spa'))

  const pushed = await note(tpp.redeem(await tpp.newCode()))
  await note(tpp.token(refreshOf(pushed.body.refresh_token)))
  await note(tpp.push())
  await note(flows.begin('spa'))
  return statuses
}

/** The right result of `runEveryFlow`: a wrong verifier and a code that is used again are refused. */
export const statusesOfEveryFlow = [200, 200, 200, 200, 200, 200, 400, 200, 200, 200, 400, 200, 200, 201, 303]
