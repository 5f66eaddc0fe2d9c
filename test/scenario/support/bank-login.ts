import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { escapeHtml } from '../../../src/oauth/pages/html.ts'
import { type Members, newKey, signJws, type TestKey } from '../../oauth/fapi/support/jws.ts'

/** An operator's own login, as small as possible: it knows every user, and asks each for consent once. */
export interface BankLogin {
  /** Where Sidegate sends browsers. */
  readonly url: string
  /** The key that proves its calls. */
  readonly key: TestKey
}

/** Between which two a JWT of the login goes: from `login.url` to the issuer. */
export interface LoginEnds {
  readonly iss: string
  readonly aud: string
}

/** How its calls to the private listener go. */
export interface BackChannelCaller {
  /** @param path below `/internal/interactions/` */
  call(path: string, body?: unknown, request?: RequestInit): Promise<Response>
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** @param origin of the private listener */
export const createCaller = (origin: string, ends: LoginEnds, key: TestKey): BackChannelCaller => ({
  call: (path, body, request = {}) =>
    fetch(`${origin}/internal/interactions/${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      ...request,
      headers: {
        authorization: `Bearer ${loginJwt(ends, key)}`,
        'content-type': 'application/json',
        ...request.headers,
      },
    }),
})

/** A good proof, unless the test changes its claims or header. */
export const loginJwt = (ends: LoginEnds, key: TestKey, claims: Members = {}, header: Members = {}): string => {
  const nowSec = Math.floor(Date.now() / 1000)
  const good = { ...ends, iat: nowSec, exp: nowSec + 60, jti: randomUUID() }
  return signJws({ alg: key.alg, kid: key.kid, typ: 'sidegate-login+jwt', ...header }, { ...good, ...claims }, key)
}

/** On `localhost`, so that for the browser it is another site than the gateway on 127.0.0.1. */
export const startBankLogin = async (t: Teardown, caller: () => BackChannelCaller): Promise<BankLogin> => {
  const server = createServer(async (request, response) => {
    const id = new URL(request.url ?? '', 'http://bank.invalid').searchParams.get('interaction') ?? ''
    if (request.method === 'POST') {
      const location = await decide(caller(), id, await text(request))
      response.writeHead(303, { location }).end()
    } else {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(await ask(caller(), id, request))
    }
  })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/sign-in`, key: newKey('ES256') }
}

const ask = async (caller: BackChannelCaller, id: string, request: IncomingMessage): Promise<string> => {
  const found = (await (await caller.call(id)).json()) as { client_name?: string; scope?: readonly string[] }
  return `<h1>${escapeHtml(found.client_name ?? 'unknown')}</h1><p>${found.scope?.join(' ') ?? ''}</p>
<form method="post" action="${request.url}"><button name="decision" value="accept" id="yes">Yes</button>
<button name="decision" value="reject" id="no">No</button></form>`
}

const decide = async (caller: BackChannelCaller, id: string, form: string): Promise<string> => {
  const decision = new URLSearchParams(form).get('decision')
  const body = decision === 'accept' ? { sub: 'customer-17', acr: 'urn:sca', auth_time: 1_700_000_000 } : refusal
  const answer = (await (await caller.call(`${id}/${decision}`, body)).json()) as { redirect_to?: string }
  return answer.redirect_to ?? '/lost'
}

const refusal = { error: 'access_denied', description: 'The customer said no.' }
