import t from 'tap'
import { chooseTexts } from '../../../../src/oauth/pages/locales/choose-locale.ts'
import { german } from '../../../../src/oauth/pages/locales/de.ts'
import { english } from '../../../../src/oauth/pages/locales/en.ts'

t.test(
  'what the client asks for comes before what the browser prefers, and English where neither says anything',
  async t => {
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
  },
)

t.test('what is not acceptable, or stands beyond any reasonable list, is not looked at', async t => {
  t.equal(chooseTexts(undefined, `${'fr,'.repeat(20)}de`).lang, 'en')
})

t.test('waiting for one second is said in the singular', async t => {
  t.match(english.signIn.tooMany(1), /Wait 1 second,/)
  t.match(english.signIn.tooMany(2), /Wait 2 seconds,/)
  t.match(german.signIn.tooMany(1), /1 Sekunde /)
  t.match(german.signIn.tooMany(60), /60 Sekunden /)
})
