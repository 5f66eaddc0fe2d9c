import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import type { newKey } from '../../oauth/fapi/support/jws.ts'
import { createCookieJar } from '../../oauth/support/cookie-jar.ts'
import { callback, startOAuth } from '../../oauth/support/running.ts'
import { findFreePort } from '../../support/free-port.ts'
import type { RunningSidegate, TestConfig } from '../../support/sidegate.ts'
import { type BackChannelCaller, createCaller, type LoginEnds, startBankLogin } from './bank-login.ts'

export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

export const authorizationUrl = (gateway: string, changes: Readonly<Record<string, string>> = {}): URL => {
  const url = new URL('/authorize', gateway)
  const parameters = {
    response_type: 'code',
    client_id: 'app',
    redirect_uri: callback,
    scope: 'read',
    state: 'a-state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

export interface Bank {
  readonly gateway: RunningSidegate
  readonly internal: string
  readonly caller: BackChannelCaller
  /** A JWT that is signed with it comes from the login. */
  readonly key: ReturnType<typeof newKey>
  readonly loginUrl: string
  readonly ends: LoginEnds
}

/** The real program with four workers, and a login of the operator's that it sends people to. */
export const startBank = async (t: Test, changes: TestConfig = {}): Promise<Bank> => {
  const callers: BackChannelCaller[] = []
  const login = await startBankLogin(t, () => callers[0] as BackChannelCaller)
  const listen = `127.0.0.1:${await findFreePort()}`
  const gateway = await startOAuth(t, {
    workers: 4,
    login: { mode: 'handoff', url: login.url },
    internal: { listen, jwks: { keys: [login.key.publicJwk] } },
    ...changes,
  })
  const internal = `http://${listen}`
  const ends = { iss: login.url, aud: gateway.url }
  const caller = createCaller(internal, ends, login.key)
  callers.push(caller)
  return { gateway, internal, caller, key: login.key, loginUrl: login.url, ends }
}

/** A browser without a screen: where it is sent, and its cookies. */
export const begin = async (gateway: RunningSidegate, changes?: Readonly<Record<string, string>>) => {
  const begun = await fetch(authorizationUrl(gateway.url, changes), { redirect: 'manual' })
  const jar = createCookieJar()
  jar.take(begun.headers.getSetCookie())
  const id = new URL(begun.headers.get('location') ?? '').searchParams.get('interaction') ?? ''
  const follow = async (url: string, cookie = jar.header()): Promise<Response> =>
    fetch(url, { redirect: 'manual', headers: { cookie, connection: 'close' } })
  return { id, begun, follow }
}

/** The redirect in the response to the login. */
export const redirectOf = async (response: Response): Promise<string> =>
  String(((await response.json()) as { readonly redirect_to?: unknown }).redirect_to)
