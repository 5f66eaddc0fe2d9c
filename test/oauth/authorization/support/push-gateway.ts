import type { Test } from 'tap'
import { challengeOf } from '../../../../src/oauth/opaque-token.ts'
import { type RunningRedis, startRedis } from '../../../support/redis.ts'
import { type Members, newKey } from '../../fapi/support/jws.ts'
import { verifier } from '../../support/authorization-server.ts'
import { type Fields, type Posted, post } from '../../support/post.ts'
import { callback, startOAuth } from '../../support/running.ts'

/** A running gateway whose clients push their authorization requests. */
export interface PushGateway {
  readonly url: string
  /** The store, if it is Redis. */
  readonly redis: RunningRedis | undefined
  push(fields?: Fields, client_id?: string): Promise<Posted>
  /** Pushes, and resolves to the request_uri. */
  pushed(fields?: Fields, client_id?: string): Promise<string>
  /** The authorization endpoint with these parameters. */
  place(fields: Fields): URL
  /** A browser's first request there; it follows no redirect. */
  visit(fields: Fields): Promise<Response>
  redeem(code: string, client_id?: string): Promise<Posted>
}

/** A good authorization request of any client. */
export const request: Fields = {
  response_type: 'code',
  redirect_uri: callback,
  scope: 'read',
  state: 'a-state',
  code_challenge: challengeOf(verifier),
  code_challenge_method: 'S256',
}

export const without = (name: string): Fields =>
  Object.fromEntries(Object.entries(request).filter(([key]) => key !== name))

const client = (client_id: string, more: Members = {}): Members => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['client_credentials', 'authorization_code'],
  redirect_uris: [callback],
  scope: 'read write',
  ...more,
})

const clients = [
  client('app'),
  client('signer', { jwks: { keys: [newKey('ES256').publicJwk] }, require_signed_request_object: true }),
  client('machine', { grant_types: ['client_credentials'] }),
]

/** Four workers over one store. */
export const startPushGateway = async (t: Test, kind: 'sqlite' | 'redis'): Promise<PushGateway> => {
  const redis = kind === 'redis' ? await startRedis(t) : undefined
  const { url } = await startOAuth(t, { workers: 4, clients, ...(redis && { store: redis.url }) })
  const place: PushGateway['place'] = fields => new URL(`${url}/authorize?${new URLSearchParams(fields)}`)
  const push: PushGateway['push'] = (fields = request, client_id = 'app') =>
    post(`${url}/par`, { client_id, ...fields }, client_id)
  return {
    url,
    redis,
    push,
    pushed: async (fields, client_id) => String((await push(fields, client_id)).body.request_uri),
    place,
    visit: fields => fetch(place(fields), { redirect: 'manual' }),
    redeem: (code, client_id = 'app') =>
      post(
        `${url}/token`,
        { grant_type: 'authorization_code', redirect_uri: callback, code_verifier: verifier, code },
        client_id,
      ),
  }
}
