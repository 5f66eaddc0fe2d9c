import t from 'tap'
import { demoClient, password } from '../support/browser-flow.ts'
import { launchBrowser, openLogin, signIn } from '../support/sight.ts'

const browser = await launchBrowser(t)

t.test('a user signs in with the keyboard only, allows, and returns to the client with a code', async t => {
  const { room, page, complaints } = await openLogin(t, browser)

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

t.test('a user may decline before the sign-in, with empty fields', async t => {
  const { page, complaints } = await openLogin(t, browser)

  await page.click('#deny')
  await page.waitForURL(/\/callback\?/)

  t.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')
  t.same(complaints, [])
})

t.test('a user may decline after the sign-in', async t => {
  const { page } = await openLogin(t, browser)

  await signIn(page)
  await page.click('#deny')
  await page.waitForURL(/\/callback\?/)

  t.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')
})

t.test('after a wrong password the page shows the error, keeps the username and focuses the password', async t => {
  const { page } = await openLogin(t, browser)

  await signIn(page, 'wrong')
  await page.waitForSelector('[role=alert]')

  t.equal(await page.inputValue('#username'), 'alice')
  t.equal(await page.inputValue('#password'), '')
  t.equal(await page.evaluate('document.activeElement.id'), 'password')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  t.ok(await page.waitForSelector('#allow'))
})

t.test(
  'a reload of either page works, and the back button after the end allows no second sign-in (checklist 59)',
  async t => {
    const { page } = await openLogin(t, browser)

    await page.reload()
    await signIn(page)
    await page.waitForSelector('#allow')
    await page.reload()
    await page.click('#allow')
    await page.waitForURL(/\/callback\?/)
    await page.goBack()

    t.equal(await page.locator('h1').textContent(), 'This sign-in is finished')
    t.equal(await page.locator('form').count(), 0)
  },
)

t.test('two tabs of one browser both finish (checklist 59)', async t => {
  const { page, context, authorizeUrl } = await openLogin(t, browser)
  const second = await context.newPage()
  await second.goto(authorizeUrl.replace('a-state', 'tab-two'))

  await signIn(page)
  await signIn(second)
  await second.click('#allow')
  await page.click('#allow')

  await Promise.all([page.waitForURL(/state=a-state/), second.waitForURL(/state=tab-two/)])
})

t.test('the URL of a login page is refused in another browser', async t => {
  const { page } = await openLogin(t, browser)
  const other = await browser.newContext()
  t.teardown(() => other.close())
  const stranger = await other.newPage()

  const reply = await stranger.goto(page.url())

  t.equal(reply?.status(), 403)
  t.equal(await stranger.locator('form').count(), 0)
})

t.test(
  'an expired page redirects the user to the client with an error (RFC 6749 section 4.1.2.1; checklist 60)',
  async t => {
    const { room, page } = await openLogin(t, browser)
    room.advanceSec(900)

    await signIn(page)
    await page.waitForURL(/\/callback\?/)

    t.match(Object.fromEntries(new URL(page.url()).searchParams), { error: 'access_denied', state: 'a-state' })
  },
)

t.test(
  'the cookie of the browser before the sign-in is invalid after it (RFC 6265 section 8.4; checklist 61)',
  async t => {
    const { page, context } = await openLogin(t, browser)
    const before = await context.cookies(page.url())

    await signIn(page)
    await page.waitForSelector('#allow')
    const after = await context.cookies(page.url())
    await context.addCookies(before)
    const reply = await page.reload()

    t.notSame(after, before)
    t.equal(reply?.status(), 200)
    t.notOk(await page.isVisible('#allow'), 'it is valid only for another sign-in')
    t.ok(await page.isVisible('#password'))
    await context.addCookies(after)
    await page.reload()
    t.ok(await page.isVisible('#allow'))
  },
)

t.test('a sign-in form that is clicked twice leads to the consent page (checklist 59)', async t => {
  const { page } = await openLogin(t, browser)
  await page.fill('#username', 'alice')
  await page.fill('#password', password)

  await page.dblclick('#sign-in')

  await page.waitForSelector('#allow')
  // The second click may abort the navigation of the first one, and `waitForURL` fails with the aborted navigation.
  await page.dblclick('#allow')
  await page.waitForFunction('location.pathname === "/callback"')
  t.match(page.url(), /\/callback\?code=/)
})

t.test('the whole sign-in works without scripts', async t => {
  const { page } = await openLogin(t, browser, { context: { javaScriptEnabled: false } })

  await signIn(page, 'wrong')
  await signIn(page)
  await page.click('#allow')

  await page.waitForURL(/\/callback\?code=/)
})
