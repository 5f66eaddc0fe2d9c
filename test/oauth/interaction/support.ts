import type { Test } from 'tap'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import { createLoginApi, type LoginApi } from '../../../src/oauth/interaction/login-api.ts'
import type { OAuthOptions } from '../../../src/oauth/options.ts'
import type { OAuthReply, OAuthRequest } from '../../../src/oauth/protocol.ts'
import { ask, type BrowserRoom, demoClient, get, header, openBrowserRoom } from '../support/browser-flow.ts'
import { createCookieJar } from '../support/cookie-jar.ts'

export const loginUrl = 'https://login.bank.example/sign-in?lang=en'

/** A server whose users sign in at the operator's own login, and the API for that login. */
export interface HandoffRoom extends BrowserRoom {
  readonly backChannel: LoginApi
}

export const openHandoffRoom = async (
  t: Test,
  changes: Partial<ClientRegistration> = {},
  options: Partial<Omit<OAuthOptions, 'clients'>> = {},
): Promise<HandoffRoom> => {
  const clients = [
    { ...demoClient, ...changes },
    { ...demoClient, client_id: 'other' },
  ]
  const room = await openBrowserRoom(t, clients, { login: { mode: 'handoff', url: loginUrl }, ...options })
  return { ...room, backChannel: createLoginApi(room.deps) }
}

/** A browser that was redirected to the operator's login. */
export interface Sent {
  readonly id: string
  readonly begun: OAuthReply
  /** The `Cookie` header that it would send now. */
  cookie(): string
  /** Requests a URL or path of the gateway; `cookie` replaces its own. */
  follow(url: string, cookie?: string): Promise<OAuthReply>
}

export const send = async (room: BrowserRoom, query = ask()): Promise<Sent> => {
  const begun = await room.authorize(get(query))
  const id = new URL(header(begun, 'location')).searchParams.get('interaction') ?? ''
  const jar = createCookieJar()
  jar.take(begun.headers['set-cookie'])
  const follow = async (url: string, cookie = jar.header()): Promise<OAuthReply> => {
    const { pathname, search } = new URL(url, room.deps.options.issuer)
    const request: OAuthRequest = get(search.slice(1), pathname, cookie)
    const reply = await room.interaction(request)
    jar.take(reply.headers['set-cookie'])
    return reply
  }
  return { id, begun, cookie: jar.header, follow }
}

/** The resume URL in the response to the login. */
export const accept = async (
  room: HandoffRoom,
  id: string,
  decision: object = { sub: 'person-1' },
): Promise<string> => {
  const answer = await room.backChannel.accept(id, decision)
  return answer.kind === 'answer' ? String(answer.body.redirect_to) : answer.kind
}
