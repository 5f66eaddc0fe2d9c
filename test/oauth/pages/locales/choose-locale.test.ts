import t from 'tap'
import { chooseTexts } from '../../../../src/oauth/pages/locales/choose-locale.ts'
import { german } from '../../../../src/oauth/pages/locales/de.ts'
import { english } from '../../../../src/oauth/pages/locales/en.ts'

t.test("the locale of the client's request comes before the browser's preference; English is the default", async t => {
  const cases: readonly (readonly [string | undefined, string | undefined, string])[] = [
    [undefined, undefined, 'en'],
    [undefined, 'de', 'de'],
    [undefined, 'de-AT', 'de'],
    [undefined, 'DE', 'de'],
    [undefined, 'den', 'en'],
    [undefined, 'fr, de;q=0.8, en;q=0.7', 'de'],
    [undefined, 'en;q=0.7, de;q=0.8', 'de'],
    [undefined, 'de;q=0, fr', 'en'],
    [undefined, 'de;q=x', 'en'],
    [undefined, '*', 'en'],
    [undefined, ',;,q=1', 'en'],
    ['de', 'en', 'de'],
    ['fr de-CH en', 'en', 'de'],
    ['fr', 'de', 'de'],
    ['', 'de', 'de'],
    ['<script>', undefined, 'en'],
  ]

  for (const [uiLocales, acceptLanguage, lang] of cases) {
    t.equal(chooseTexts(uiLocales, acceptLanguage).lang, lang, `${uiLocales} | ${acceptLanguage}`)
  }
})

t.test('a locale after the first twenty of the list is ignored', async t => {
  t.equal(chooseTexts(undefined, `${'fr,'.repeat(20)}de`).lang, 'en')
})

t.test('one second of waiting is in the singular', async t => {
  t.match(english.signIn.tooMany(1), /Wait 1 second,/)
  t.match(english.signIn.tooMany(2), /Wait 2 seconds,/)
  t.match(german.signIn.tooMany(1), /1 Sekunde /)
  t.match(german.signIn.tooMany(60), /60 Sekunden /)
})
