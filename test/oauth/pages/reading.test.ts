import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { launchBrowser, openLogin, type Sight, signIn } from '../support/sight.ts'

/** The use of the pages by keyboard, by screen reader, on a phone, in light and in dark colours. */

const browser = await launchBrowser(t)

/** Opens every kind of page, and calls `look` at each. */
const visitEveryPage = async (
  { page, authorizeUrl }: Sight,
  look: (name: string) => Promise<unknown>,
): Promise<void> => {
  await look('sign-in')
  await signIn(page, 'wrong')
  await page.waitForSelector('[role=alert]')
  await look('wrong password')
  await signIn(page)
  await page.waitForSelector('#allow')
  await look('consent')
  await page.click('#allow')
  await page.waitForURL(/\/callback\?/)
  await page.goBack()
  await look('finished')
  await page.goto(authorizeUrl.replace('client_id=demo', 'client_id=nobody'))
  await look('unaddressed')
  await page.goto(new URL(`/interaction/${'A'.repeat(22)}`, authorizeUrl).href)
  await look('expired')
}

const focused = (page: Page): Promise<unknown> => page.evaluate('document.activeElement.id')

/** The ids in the order of the Tab key, from the focused one on. */
const tabThrough = async (page: Page, count: number, key = 'Tab'): Promise<readonly unknown[]> => {
  const ids = [await focused(page)]
  while (ids.length < count) {
    await page.keyboard.press(key)
    ids.push(await focused(page))
  }
  return ids
}

t.test('the Tab key reaches every control in the order of the page, and each shows its focus', async t => {
  const { page } = await openLogin(t, browser)

  t.same(await tabThrough(page, 4), ['username', 'password', 'sign-in', 'deny'])
  t.same(await tabThrough(page, 4, 'Shift+Tab'), ['deny', 'sign-in', 'password', 'username'])
  for (const id of ['password', 'sign-in', 'deny']) {
    await page.keyboard.press('Tab')
    t.ok(await page.evaluate(`Number.parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2`), id)
  }
  await signIn(page)
  await page.waitForSelector('#allow')
  await page.keyboard.press('Tab')
  t.same(await tabThrough(page, 2), ['allow', 'deny'])
  await page.keyboard.press('Enter')
  await page.waitForURL(/error=access_denied/)
})

t.test('a screen reader finds every control by its role and name, and announces the failure', async t => {
  const { page } = await openLogin(t, browser)

  t.equal(await page.getByRole('heading', { level: 1, name: 'Sign in' }).count(), 1)
  await page.getByRole('textbox', { name: 'Username', exact: true }).fill('alice')
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('alert').waitFor()
  t.match(await page.title(), /^Not signed in/)
  const described = page.getByRole('textbox', { name: 'Username' })
  t.equal(await described.getAttribute('aria-invalid'), 'true')
  const describedBy = await described.getAttribute('aria-describedby')
  t.equal(await page.locator(`#${describedBy}`).textContent(), await page.getByRole('alert').textContent())
  await signIn(page)
  t.equal(await page.getByRole('list', { name: 'Demo client asks for' }).getByRole('listitem').count(), 3)
  t.equal(await page.getByRole('button', { name: 'Allow', exact: true }).count(), 1)
  t.equal(await page.getByRole('button', { name: 'Deny', exact: true }).count(), 1)
})

t.test('every page has one main part, one first heading, a language and a title', async t => {
  const sight = await openLogin(t, browser)

  await visitEveryPage(sight, async name => {
    const { page } = sight
    t.equal(await page.getByRole('main').count(), 1, name)
    t.equal(await page.getByRole('heading', { level: 1 }).count(), 1, name)
    t.equal(await page.locator('html').getAttribute('lang'), 'en', name)
    t.match(await page.title(), /\S · 127\.0\.0\.1|\S · localhost/, name)
  })
})

for (const colorScheme of ['light', 'dark'] as const) {
  t.test(`on a narrow phone, in ${colorScheme}, every page fits and every text is readable`, async t => {
    const client_name = 'Donaudampfschifffahrtsgesellschaftskapitaen'.repeat(3)
    const context = { colorScheme, viewport: { width: 320, height: 640 } }
    const sight = await openLogin(t, browser, { client_name, context })

    await visitEveryPage(sight, async name => {
      t.ok(
        await sight.page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        `${name}: no horizontal scrolling`,
      )
      for (const { text, ratio } of await contrasts(sight.page)) t.ok(ratio >= 4.5, `${name}: ${text}`)
      const isDark =
        luminanceOf(String(await sight.page.evaluate('getComputedStyle(document.body).backgroundColor'))) < 0.2
      t.equal(isDark, colorScheme === 'dark', `${name}: the page has the preferred colour scheme`)
      await touchable(t, sight.page, name)
    })
  })
}

/** WCAG 2.2 section 2.5.8 requires 24; a larger target is easier to touch. */
const touchable = async (t: Test, page: Page, name: string): Promise<void> => {
  for (const control of await page.locator('button, input:not([type=hidden])').all()) {
    t.ok(((await control.boundingBox())?.height ?? 0) >= 44, `${name}: ${await control.getAttribute('id')}`)
  }
}

t.test('the pages are in the language that the browser prefers, or in the one that the client requests', async t => {
  const german = { context: { locale: 'de-AT' } }
  const preferred = await openLogin(t, browser, german)
  const asked = await openLogin(t, browser, { ...german, ui_locales: 'xx en-GB' })

  const seen: string[] = []
  await visitEveryPage(preferred, async () => {
    t.equal(await preferred.page.locator('html').getAttribute('lang'), 'de')
    seen.push((await preferred.page.getByRole('heading', { level: 1 }).textContent()) ?? '')
  })
  t.same(seen, [
    'Anmelden',
    'Anmelden',
    'Zugriff für Demo client erlauben?',
    'Diese Anmeldung ist beendet',
    'Dieser Link funktioniert nicht',
    'Diese Anmeldung ist abgelaufen',
  ])
  t.equal(await asked.page.getByRole('heading', { level: 1 }).textContent(), 'Sign in')
})

interface Contrast {
  readonly text: string
  readonly ratio: number
}

/** WCAG 2.2 contrast ratio of every piece of text with the nearest painted background behind it. */
const contrasts = async (page: Page): Promise<readonly Contrast[]> => {
  const found = (await page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found = []
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent.trim()
      let element = walker.currentNode.parentElement
      if (text === '' || element.checkVisibility() === false) continue
      const front = getComputedStyle(element).color
      while (getComputedStyle(element).backgroundColor === 'rgba(0, 0, 0, 0)') element = element.parentElement
      found.push([text, front, getComputedStyle(element).backgroundColor])
    }
    return found
  })()`)) as readonly (readonly [string, string, string])[]
  return found.map(([text, front, back]) => {
    const [light = 0, dark = 0] = [luminanceOf(front), luminanceOf(back)].toSorted((a, b) => b - a)
    return { text, ratio: (light + 0.05) / (dark + 0.05) }
  })
}

const luminanceOf = (color: string): number => {
  const channels = (color.match(/\d+/g) ?? []).slice(0, 3).map(text => Number(text) / 255)
  const [r = 0, g = 0, b = 0] = channels.map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
