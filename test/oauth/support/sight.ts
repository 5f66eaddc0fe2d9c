import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import type { OAuthReply, OAuthRequest } from '../../../src/oauth/protocol.ts'
import { ask, type BrowserRoom, demoClient, openBrowserRoom, password } from './browser-flow.ts'

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** A real headless browser; it is closed when the test ends. */
export const launchBrowser = async (t: Teardown): Promise<Browser> => {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  t.teardown(() => browser.close())
  return browser
}

const listen = async (
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> => {
  const server: Server = createServer((request, response) => void answer(request, response))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Converts HTTP to values and back, without a gateway in between. */
const serveRoom = (t: Test, room: BrowserRoom): Promise<string> =>
  listen(t, async (request, response) => {
    const oauthRequest = await toOAuthRequest(request)
    const isPage = oauthRequest.path.startsWith('/interaction/')
    const reply: OAuthReply = await (isPage ? room.interaction(oauthRequest) : room.authorize(oauthRequest))
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value)
    response.writeHead(reply.status).end(reply.body)
  })

const toOAuthRequest = async (request: IncomingMessage): Promise<OAuthRequest> => {
  const url = new URL(request.url ?? '/', 'http://sidegate.invalid')
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.search.slice(1),
    body: await text(request),
    contentType: request.headers['content-type'],
    authorization: [],
    dpop: [],
    clientCertificate: undefined,
    cookie: request.headers.cookie,
    accept: request.headers.accept,
    acceptLanguage: request.headers['accept-language'],
    origin: request.headers.origin,
    fetchSite: request.headers['sec-fetch-site'],
    address: request.socket.remoteAddress ?? '',
  }
}

/** The observations of a test about one sign-in. */
export interface Sight {
  readonly room: BrowserRoom
  readonly page: Page
  readonly context: BrowserContext
  /** The URL of the authorization endpoint; the client's callback page answers at the redirect URI. */
  readonly authorizeUrl: string
  /** The errors of the browser: a blocked style, form or script. */
  readonly complaints: readonly string[]
}

export interface SightWishes {
  readonly client_name?: string
  /** The settings of the browser: its language, its size, whether it runs scripts. */
  readonly context?: BrowserContextOptions
  readonly ui_locales?: string
}

/** A gateway, a client that waits at its redirect URI, and a new browser at the login page. */
export const openLogin = async (t: Test, browser: Browser, wishes: SightWishes = {}): Promise<Sight> => {
  const { client_name = demoClient.client_name, context: contextOptions, ...parameters } = wishes
  const clientUrl = await listen(t, (_request, response) => response.end('<h1>client</h1>'))
  const redirect_uri = `${clientUrl}/callback`
  const room = await openBrowserRoom(t, [{ ...demoClient, client_name, redirect_uris: [redirect_uri] }])
  const url = await serveRoom(t, room)
  const context = await browser.newContext(contextOptions)
  t.teardown(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  // The browser requests only the favicon by itself, and a failed form is a deliberate 400.
  page.on('console', message => {
    if (message.type() === 'error' && !/favicon|status of 400/.test(message.text())) complaints.push(message.text())
  })
  const authorizeUrl = `${url}/psd2/oauth2/authorize?${ask({ redirect_uri, scope: undefined, ...parameters })}`
  await page.goto(authorizeUrl)
  return { room, page, context, authorizeUrl, complaints }
}

export const signIn = async (page: Page, secret = password): Promise<void> => {
  await page.fill('#username', 'alice')
  await page.fill('#password', secret)
  await page.click('#sign-in')
}
