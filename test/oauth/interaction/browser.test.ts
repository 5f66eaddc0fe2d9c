import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { OAuthReply, OAuthRequest } from '../../../src/oauth/wire.ts'
import { ask, type BrowserRoom, demoClient, openBrowserRoom, password } from '../support/browser-flow.ts'

const browser: Browser = await chromium.launch({
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

/** HTTP to values and back, with nothing in between. */
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
    address: request.socket.remoteAddress ?? '',
  }
}

interface Sight {
  readonly room: BrowserRoom
  readonly page: Page
  readonly context: BrowserContext
  /** Where an authorization request goes; the client's callback page answers at the redirect URI. */
  readonly authorizeUrl: string
  /** Whatever the browser complained about: a blocked style, form or script. */
  readonly complaints: readonly string[]
}

/** A gateway, a client that waits at its redirect URI, and a fresh browser before the login page. */
const openLogin = async (t: Test, client_name = demoClient.client_name): Promise<Sight> => {
  const clientUrl = await listen(t, (_request, response) => response.end('<h1>client</h1>'))
  const redirect_uri = `${clientUrl}/callback`
  const room = await openBrowserRoom(t, [{ ...demoClient, client_name, redirect_uris: [redirect_uri] }])
  const url = await serveRoom(t, room)
  const context = await browser.newContext()
  t.teardown(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  // The favicon is the one thing a browser asks for by itself, and a failed form is a 400 on purpose.
  page.on('console', message => {
    if (message.type() === 'error' && !/favicon|status of 400/.test(message.text())) complaints.push(message.text())
  })
  const authorizeUrl = `${url}/psd2/oauth2/authorize?${ask({ redirect_uri, scope: undefined })}`
  await page.goto(authorizeUrl)
  return { room, page, context, authorizeUrl, complaints }
}

const signIn = async (page: Page, secret = password): Promise<void> => {
  await page.fill('#username', 'alice')
  await page.fill('#password', secret)
  await page.click('#sign-in')
}

t.test('a person signs in with the keyboard alone, allows, and lands at the client with a code', async t => {
  const { room, page, complaints } = await openLogin(t)

  await page.keyboard.type('alice')
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.waitForSelector('#allow')
  t.same(await page.locator('.scopes code').allTextContents(), [...demoClient.scope])
  await page.click('#allow')
  await page.waitForURL(/\/callback\?/)

  const answer = new URL(page.url())
  t.equal(answer.searchParams.get('state'), 'a-state')
  t.match(await room.redeem(answer.searchParams.get('code') ?? '', `${answer.origin}/callback`), { kind: 'redeemed' })
  t.same(complaints, [])
})

t.test('a person may decline before signing in, though the fields are empty', async t => {
  const { page, complaints } = await openLogin(t)

  await page.click('#deny')
  await page.waitForURL(/\/callback\?/)

  t.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')
  t.same(complaints, [])
})

t.test('a person may decline after signing in', async t => {
  const { page } = await openLogin(t)

  await signIn(page)
  await page.click('#deny')
  await page.waitForURL(/\/callback\?/)

  t.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')
})

t.test('after a wrong password the page says so, keeps the username and waits in the password', async t => {
  const { page } = await openLogin(t)

  await signIn(page, 'wrong')
  await page.waitForSelector('[role=alert]')

  t.equal(await page.inputValue('#username'), 'alice')
  t.equal(await page.inputValue('#password'), '')
  t.equal(await page.evaluate('document.activeElement.id'), 'password')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  t.ok(await page.waitForSelector('#allow'))
})

t.test('line 59: a reload of either page works, and back after the end shows no second way in', async t => {
  const { page } = await openLogin(t)

  await page.reload()
  await signIn(page)
  await page.waitForSelector('#allow')
  await page.reload()
  await page.click('#allow')
  await page.waitForURL(/\/callback\?/)
  await page.goBack()

  t.equal(await page.locator('h1').textContent(), 'This sign-in is finished')
  t.equal(await page.locator('form').count(), 0)
})

t.test('line 59: two tabs of one browser both finish', async t => {
  const { page, context, authorizeUrl } = await openLogin(t)
  const second = await context.newPage()
  await second.goto(authorizeUrl.replace('a-state', 'tab-two'))

  await signIn(page)
  await signIn(second)
  await second.click('#allow')
  await page.click('#allow')

  await Promise.all([page.waitForURL(/state=a-state/), second.waitForURL(/state=tab-two/)])
})

t.test('the address of a login page is worth nothing in another browser', async t => {
  const { page } = await openLogin(t)
  const other = await browser.newContext()
  t.teardown(() => other.close())
  const stranger = await other.newPage()

  const reply = await stranger.goto(page.url())

  t.equal(reply?.status(), 403)
  t.equal(await stranger.locator('form').count(), 0)
})

t.test('pages fit a phone, also where a name is long, and are readable in light and dark', async t => {
  const { page } = await openLogin(t, 'Donaudampfschifffahrtsgesellschaftskapitaen'.repeat(3))
  await page.setViewportSize({ width: 320, height: 640 })

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
    t.ok((await contrastOf(page, 'h1')) >= 7, `${colorScheme}: the heading`)
    t.ok((await contrastOf(page, 'main p')) >= 4.5, `${colorScheme}: the text`)
    t.ok((await contrastOf(page, '#sign-in')) >= 4.5, `${colorScheme}: the button`)
  }
})

/** WCAG 2.2 contrast ratio between a text and the nearest painted background behind it. */
const contrastOf = async (page: Page, selector: string): Promise<number> => {
  const [front, back] = (await page.evaluate(`(() => {
    let element = document.querySelector('${selector}')
    const front = getComputedStyle(element).color
    while (getComputedStyle(element).backgroundColor === 'rgba(0, 0, 0, 0)') element = element.parentElement
    return [front, getComputedStyle(element).backgroundColor]
  })()`)) as [string, string]
  const [light, dark] = [luminanceOf(front), luminanceOf(back)].toSorted((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const luminanceOf = (color: string): number => {
  const channels = (color.match(/\d+/g) ?? []).slice(0, 3).map(text => Number(text) / 255)
  const [r = 0, g = 0, b = 0] = channels.map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
