import t from 'tap'
import type { OAuthOptions } from '../../../src/oauth/options.ts'
import { german } from '../../../src/oauth/pages/locales/de.ts'
import { english } from '../../../src/oauth/pages/locales/en.ts'
import { findScopeText } from '../../../src/oauth/pages/scope-text.ts'
import { ask, demoClient, enter, openBrowserRoom } from '../support/browser-flow.ts'

const declared: OAuthOptions['scopeTexts'] = new Map([
  ['both', { de: 'Beides', en: 'Both' }],
  ['english', { fr: 'Anglais', en: 'English' }],
  ['french', { fr: 'Français', it: 'Francese' }],
  ['alone', { und: 'Alone' }],
  ['constructor', { en: 'Build' }],
])

t.test('the text of a scope is in the language of the page, else in English, else the first one', async t => {
  t.same(findScopeText('both', declared, german), { text: 'Beides' })
  t.same(findScopeText('both', declared, english), { text: 'Both' })
  t.same(findScopeText('english', declared, german), { text: 'English', lang: 'en' })
  t.same(findScopeText('french', declared, german), { text: 'Français', lang: 'fr' })
  t.same(findScopeText('alone', declared, german), { text: 'Alone' })
})

t.test('the built-in texts apply unless the operator configures others', async t => {
  t.same(findScopeText('offline_access', declared, german), { text: german.consent.scopes.offline_access })
  t.same(findScopeText('offline_access', new Map([['offline_access', { en: 'Stay' }]]), german), {
    text: 'Stay',
    lang: 'en',
  })
})

t.test('a scope without a text is shown by its name', async t => {
  t.equal(findScopeText('Both', declared, english), undefined)
  t.equal(findScopeText('constructor', new Map(), english), undefined)
  t.equal(findScopeText('toString', declared, english), undefined)
})

t.test('a scope text with markup is text on the consent page (RFC 6749 section 10.14; checklist 57)', async t => {
  const attack = '"><script>alert(1)</script>'
  const scopeTexts = new Map([['accounts:read', { fr: attack }]])
  const room = await openBrowserRoom(t, [demoClient], { scopeTexts })
  const guest = await enter(room, ask({ scope: 'accounts:read accounts:write' }))
  await guest.signIn()

  const { body } = await guest.show()

  const shown =
    '<li><span lang="fr">&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</span><code>accounts:read</code></li>'
  t.ok(String(body).includes(shown))
  t.match(body, /<li><code>accounts:write<\/code><\/li>/)
  t.notMatch(body, '<script')
})
