import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { post } from '../oauth/support/post.ts'
import { authorizationUrl, startBank, verifier } from './support/bank.ts'

/** The page at the client's redirect URI. */
const startClientPage = async (t: Test): Promise<string> => {
  const server = createServer((_request, response) => response.end('<h1>client</h1>'))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
}

t.test('in a real browser the login of another site signs a person in', async t => {
  const clientPage = await startClientPage(t)
  const { gateway, loginUrl } = await startBank(t, {
    workers: 2,
    clients: [
      {
        client_id: 'app',
        client_name: 'A <b>shop</b>',
        client_secret: 'app-secret',
        grant_types: ['authorization_code'],
        redirect_uris: [clientPage],
        scope: 'read',
      },
    ],
  })
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  })
  t.teardown(() => browser.close())
  const openTab = async (state: string) => {
    const page = await (browser.contexts()[0] ?? (await browser.newContext())).newPage()
    await page.goto(authorizationUrl(gateway.url, { state, redirect_uri: clientPage }).href)
    return page
  }
  const [one, two] = [await openTab('tab one'), await openTab('tab two')]

  t.ok(one.url().startsWith(loginUrl))
  t.equal(await one.locator('h1').textContent(), 'A <b>shop</b>')
  await one.reload()
  await two.click('#no')
  await two.waitForURL(/callback/)
  await one.click('#yes')
  await one.waitForURL(/callback/)

  const [accepted, rejected] = [new URL(one.url()).searchParams, new URL(two.url()).searchParams]
  t.equal(accepted.get('state'), 'tab one')
  t.equal(accepted.get('iss'), gateway.url)
  t.match(Object.fromEntries(rejected), { state: 'tab two', error: 'access_denied' })
  const fields = { grant_type: 'authorization_code', redirect_uri: clientPage, code_verifier: verifier }
  const tokens = await post(`${gateway.url}/token`, { ...fields, code: accepted.get('code') ?? '' }, 'app')
  t.equal(tokens.status, 200)
  await one.goBack()
  t.ok(one.url().startsWith(loginUrl), 'back is the login, where the same answer leads to the same place')
  await one.click('#yes')
  await one.waitForURL(/callback/)
  t.equal(new URL(one.url()).searchParams.get('code'), accepted.get('code'))
})
