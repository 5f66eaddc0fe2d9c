import { createHash, randomUUID } from 'node:crypto'
import { challengeOf } from '../../../../src/oauth/opaque-token.ts'
import { type Posted, post } from '../../support/post.ts'
import { signInAndAllow } from '../../support/running.ts'
import { bareJwk, type Members, newKey, signJws, type TestKey } from './jws.ts'

export const redirect_uri = 'https://tpp.example/callback'
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

/** The differences of a JWT from the right one; undefined removes a member. */
export interface Twist {
  readonly claims?: Members
  readonly header?: Members
  readonly key?: TestKey
  /** Replaces the finished JWT. */
  readonly rewrite?: (jws: string) => string
}

/** The differences of a request from the right one. */
export interface Sent {
  readonly assertion?: Twist
  /** `none`: no proof is sent. */
  readonly proof?: Twist | 'none'
  readonly headers?: Readonly<Record<string, string>>
}

export interface FapiClient {
  readonly client_id: string
  readonly dpopKey: TestKey
  assertion(twist?: Twist): string
  /** A DPoP proof for a request; with `access_token` for a request to a protected resource. */
  proof(htm: string, htu: string, twist?: Twist, access_token?: string): string
  /** Pushes an authorization request; undefined in `changes` removes a parameter. */
  push(changes?: Readonly<Record<string, string | undefined>>, sent?: Sent): Promise<Posted>
  /** Pushes, signs in and allows; resolves to the authorization response. */
  authorize(changes?: Readonly<Record<string, string | undefined>>): Promise<URL>
  /** Pushes, signs in and allows; resolves to the code. */
  newCode(changes?: Readonly<Record<string, string | undefined>>): Promise<string>
  token(fields: Readonly<Record<string, string | undefined>>, sent?: Sent): Promise<Posted>
  redeem(code: string, changes?: Readonly<Record<string, string | undefined>>, sent?: Sent): Promise<Posted>
  /** Calls the API behind the gateway with a bound token; repeats the same request if the gateway asks for a nonce. */
  call(target: string, access_token: string, sent?: Sent & { readonly scheme?: string }): Promise<Response>
}

/** A client of FAPI 2.0: private_key_jwt, PAR, PKCE, DPoP. */
export const createFapiClient = (url: string, client_id: string, key: TestKey): FapiClient => {
  const dpopKey = newKey('ES256')

  const assertion = (twist: Twist = {}): string => {
    const nowSec = Math.floor(Date.now() / 1000)
    const claims = { iss: client_id, sub: client_id, aud: url, jti: randomUUID(), iat: nowSec, exp: nowSec + 60 }
    return twisted({ alg: key.alg, kid: key.kid, typ: 'JWT' }, claims, key, twist)
  }
  const proof: FapiClient['proof'] = (htm, htu, twist = {}, access_token = undefined) => {
    const ath = access_token && createHash('sha256').update(access_token).digest('base64url')
    const claims = { jti: randomUUID(), htm, htu, iat: Math.floor(Date.now() / 1000), ath }
    const signer = twist.key ?? dpopKey
    return twisted({ typ: 'dpop+jwt', alg: signer.alg, jwk: bareJwk(signer) }, claims, signer, twist)
  }
  const send = async (
    path: string,
    fields: Readonly<Record<string, string | undefined>>,
    sent: Sent,
    bound: boolean,
  ) => {
    const attempt = (nonce?: string): Promise<Posted> => {
      const proofs =
        bound && sent.proof !== 'none' ? { dpop: proof('POST', url + path, withNonce(sent.proof, nonce)) } : {}
      const body = {
        client_id,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion(sent.assertion),
        ...fields,
      }
      return post(url + path, present(body), undefined, { ...proofs, ...sent.headers })
    }
    const first = await attempt()
    return first.body.error === 'use_dpop_nonce' ? attempt(first.headers.get('dpop-nonce') ?? '') : first
  }
  const push: FapiClient['push'] = (changes = {}, sent = {}) =>
    send(
      '/par',
      {
        response_type: 'code',
        redirect_uri,
        scope: 'accounts',
        state: 'a-state',
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
        ...changes,
      },
      sent,
      sent.proof !== undefined && sent.proof !== 'none',
    )
  const authorize: FapiClient['authorize'] = async changes => {
    const { body } = await push(changes)
    return signInAndAllow(authorizationUrl(url, client_id, String(body.request_uri)))
  }
  const token: FapiClient['token'] = (fields, sent = {}) => send('/token', fields, sent, true)
  return {
    client_id,
    dpopKey,
    assertion,
    proof,
    push,
    authorize,
    newCode: async changes => (await authorize(changes)).searchParams.get('code') ?? '',
    token,
    redeem: (code, changes = {}, sent = {}) =>
      token({ grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier, ...changes }, sent),
    call: async (target, access_token, sent = {}) => {
      const htu = url + target
      const attempt = (nonce?: string): Promise<Response> => {
        const proofs =
          sent.proof === 'none' ? {} : { dpop: proof('GET', htu, withNonce(sent.proof, nonce), access_token) }
        const headers = { authorization: `${sent.scheme ?? 'DPoP'} ${access_token}`, ...proofs, ...sent.headers }
        return fetch(htu, { headers: { connection: 'close', ...headers } })
      }
      const first = await attempt()
      const asksForNonce = first.status === 401 && first.headers.get('www-authenticate')?.includes('use_dpop_nonce')
      return asksForNonce ? attempt(first.headers.get('dpop-nonce') ?? '') : first
    },
  }
}

export const authorizationUrl = (url: string, client_id: string, request_uri: string): URL =>
  new URL(`${url}/authorize?${new URLSearchParams({ client_id, request_uri })}`)

const withNonce = (twist: Twist = {}, nonce?: string): Twist => ({ ...twist, claims: { nonce, ...twist.claims } })

const twisted = (header: Members, claims: Members, key: TestKey, twist: Twist): string => {
  const jws = signJws({ ...header, ...twist.header }, { ...claims, ...twist.claims }, twist.key ?? key)
  return twist.rewrite ? twist.rewrite(jws) : jws
}

const present = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
