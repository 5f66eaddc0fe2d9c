import t from 'tap'
import { holdsEach } from '../cases.ts'
import { acceptedConfig, client, forwarded, problemsOf, publishing } from '../support.ts'

const clients = [client({ scope: 'accounts:read accounts:write' })]
const said = (scopes: unknown): object => ({ scopes, clients })

const text = 'Read your accounts'

holdsEach(t, [
  {
    says: 'a text is for a scope that a client is registered for',
    refused: said({ 'payments:read': text }),
    message: /^2:3: scopes\."payments:read": no client is registered .* requires it; add it to the scope of a client/,
    accepted: said({ 'accounts:read': text }),
  },
  {
    says: 'a text closes the bidirectional override that it opens',
    refused: said({ 'accounts:read': { en: text, he: '\u202e\u05d0' } }),
    message: /in which each bidirectional control character is closed/,
    accepted: said({ 'accounts:read': { en: text, he: '\u202b\u05d0\u202c' } }),
  },
  {
    says: 'a scope that is nearly one of a client was meant to be that one',
    refused: said({ 'account:read': text }),
    message: /^2:3: scopes\."account:read": no client is registered .* requires it; did you mean accounts:read\?/,
    accepted: said({ 'accounts:read': text, 'accounts:write': 'Change them' }),
  },
  {
    says: 'a text may be for a scope that an operation requires, of any client',
    refused: { ...publishing({ ...forwarded, scopes: ['items:read'] }), ...said({ 'item:read': text }) },
    message: /scopes\."item:read": .* did you mean items:read\?/,
    accepted: { ...publishing({ ...forwarded, scopes: ['items:read'] }), ...said({ 'items:read': text }) },
  },
  {
    says: 'a scope is written as RFC 6749 has it',
    refused: said({ 'accounts read': text }),
    message: /^2:3: scopes\.\(a key\): a scope is printable ASCII without space/,
    accepted: said({}),
  },
  {
    says: 'a text is given alone or for each language',
    refused: said({ 'accounts:read': [text] }),
    message:
      /scopes\."accounts:read": must be a text of one line, at most 200 characters, .* or such texts by language/,
    accepted: said({ 'accounts:read': { en: text, de: 'Ihre Konten lesen' } }),
  },
  {
    says: 'a language has no region',
    refused: said({ 'accounts:read': { 'en-GB': text } }),
    message: /scopes\."accounts:read": must be a text .* by language, such as \{ en: …, de: … \}/,
    accepted: said({ 'accounts:read': { en: text } }),
  },
  {
    says: 'there is at least one text',
    refused: said({ 'accounts:read': {} }),
    message: /scopes\."accounts:read": /,
    accepted: said({ 'accounts:read': { fr: 'Lire vos comptes' } }),
  },
  {
    says: 'a text is one line',
    refused: said({ 'accounts:read': 'Read your\naccounts' }),
    message: /scopes\."accounts:read": must be a text of one line/,
    accepted: said({ 'accounts:read': text }),
  },
  {
    says: 'a text is at most 200 characters long',
    refused: said({ 'accounts:read': { en: 'x'.repeat(201) } }),
    message: /scopes\."accounts:read": .* at most 200 characters/,
    accepted: said({ 'accounts:read': { en: 'x'.repeat(200) } }),
  },
])

t.test('while the scope of a client is invalid, no text of a scope is reported as unused', async t => {
  const problems = await problemsOf(t, { scopes: { 'accounts:read': text }, clients: [client({ scope: 'a "b"' })] })

  t.equal(problems.length, 1, problems.join())
  t.match(problems[0], /clients\[0\]\.scope/)
})

t.test('the authorization server gets every text by its language, one without a language too', async t => {
  const { oauth } = await acceptedConfig(
    t,
    said({ 'accounts:read': text, 'accounts:write': { en: 'Change them', de: 'Sie ändern' } }),
  )

  t.same(
    [...oauth.scopeTexts],
    [
      ['accounts:read', { und: text }],
      ['accounts:write', { en: 'Change them', de: 'Sie ändern' }],
    ],
  )
})
