import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { isSameName, parseName, toRegisteredName } from '../../../src/oauth/clients/distinguished-name.ts'
import { createCertificates } from '../../support/certificates.ts'

/** A subject as Node returns it: one part a line, the least specific first. */
const shop = 'C=AT\nO=Shop, Inc.'.replace(',', '\\,')
const bank = `${shop}\norganizationIdentifier=PSDAT-FMA-1\nCN=api`

t.test('two names are equal if all their parts are, the most specific first', async t => {
  for (const registered of [
    'CN=api,organizationIdentifier=PSDAT-FMA-1,O=Shop\\, Inc.,C=AT',
    'cn=api,ORGANIZATIONIDENTIFIER=PSDAT-FMA-1,o=Shop\\2C Inc.,c=AT',
    'CN = api , organizationIdentifier = PSDAT-FMA-1, O = Shop\\, Inc., C = AT ',
    '2.5.4.3=api,2.5.4.97=PSDAT-FMA-1,2.5.4.10=Shop\\, Inc.,OID.2.5.4.6=AT',
    '2.5.4.3=#0c03617069,2.5.4.97=#0c0b50534441542d464d412d31,O=Shop\\, Inc.,C=#13024154',
  ]) {
    t.ok(isSameName(registered, bank), registered)
  }
})

t.test('a name with another number, order or value of parts is a different name', async t => {
  for (const registered of [
    'CN=api,organizationIdentifier=PSDAT-FMA-1,O=Shop\\, Inc.',
    'organizationIdentifier=PSDAT-FMA-1,O=Shop\\, Inc.,C=AT',
    'CN=api,organizationIdentifier=PSDAT-FMA-1,O=Shop\\, Inc.,C=AT,C=AT',
    'C=AT,O=Shop\\, Inc.,organizationIdentifier=PSDAT-FMA-1,CN=api',
    'CN=api,organizationIdentifier=PSDAT-FMA-2,O=Shop\\, Inc.,C=AT',
    'CN=API,organizationIdentifier=PSDAT-FMA-1,O=Shop\\, Inc.,C=AT',
    'CN=api+organizationIdentifier=PSDAT-FMA-1,O=Shop\\, Inc.,C=AT',
    'CN=api,organizationIdentifier=PSDAT-FMA-1,O=Shop,O=Inc.,C=AT',
    'SN=api,organizationIdentifier=PSDAT-FMA-1,O=Shop\\, Inc.,C=AT',
  ]) {
    t.not(parseName(registered), undefined, registered)
    t.notOk(isSameName(registered, bank), registered)
  }
})

t.test('uniqueIdentifier, which OpenSSL calls uid, is not the userId that a registered name calls uid', async t => {
  const certificates = createCertificates(t)
  const subjectOf = (name: string, subject: string): string =>
    new X509Certificate(readFileSync(certificates.issue(name, { subject }).certFile)).subject
  const userId = subjectOf('user-id', '/O=Shop/UID=u1')
  const unique = subjectOf('unique', '/O=Shop/uid=u1')
  const both = subjectOf('both', '/O=Shop/CN=a+uid=u1')

  t.equal(unique, 'O=Shop\nuid=u1', 'this is how node prints uniqueIdentifier')
  for (const registered of ['UID=u1,O=Shop', 'uid=u1,O=Shop', '0.9.2342.19200300.100.1.1=u1,O=Shop']) {
    t.equal(isSameName(registered, userId), true, registered)
    t.equal(isSameName(registered, unique), false, registered)
  }
  for (const registered of ['uniqueIdentifier=u1,O=Shop', '0.9.2342.19200300.100.1.44=u1,O=Shop']) {
    t.equal(isSameName(registered, userId), false, registered)
    t.equal(isSameName(registered, unique), true, registered)
  }
  for (const subject of [userId, unique, both]) {
    t.equal(isSameName(toRegisteredName(subject), subject), true, `${subject} as it is registered`)
  }
})

t.test('attributes of one part are a set', async t => {
  const subject = 'O=Shop\nCN=api + UID=u1'

  t.ok(isSameName('CN=api+UID=u1,O=Shop', subject))
  t.ok(isSameName('UID=u1 + CN=api,O=Shop', subject))
  t.notOk(isSameName('CN=api,UID=u1,O=Shop', subject))
  t.notOk(isSameName('CN=api,O=Shop', subject))
})

t.test('a separator character inside a value does not separate', async t => {
  // One certificate says that its common name is `api,O=Shop`, the other has two parts.
  t.ok(isSameName('CN=api\\,O=Shop', 'CN=api\\,O=Shop'))
  t.notOk(isSameName('CN=api,O=Shop', 'CN=api\\,O=Shop'))
  t.notOk(isSameName('CN=api\\,O=Shop', 'O=Shop\nCN=api'))
  t.notOk(isSameName('CN=api,O=Shop', 'CN=api\\0AO=Shop'), 'an escaped line end does not separate')
  t.notOk(isSameName('CN=a+UID=b', 'CN=a \\+ UID=b'))
  t.ok(isSameName('CN=a \\+ UID=b', 'CN=a \\+ UID=b'))
})

t.test('escaped characters are unescaped, including spaces at the ends of a value', async t => {
  const subject = 'CN=\\#a\\"\\\\\\<\\>\\;=é '.replace(/ $/, '\\ ')

  t.ok(isSameName('CN=\\#a\\"\\\\\\<\\>\\;=é\\ ', subject))
  t.ok(isSameName('CN=\\23a\\22\\5c\\3C\\3e\\3b\\3d\\c3\\a9\\20', subject))
  t.notOk(isSameName('CN=\\#a\\"\\\\\\<\\>\\;=é', subject))
  t.notOk(isSameName('CN=\\#a\\"\\\\\\<\\>\\;=e\\ ', subject))
  t.ok(isSameName('CN=\\😀', 'CN=😀'))
})

t.test('a text that is not a name matches nothing, not even itself', async t => {
  for (const text of [
    '',
    'api',
    '=api',
    'CN=api,',
    ',CN=api',
    'CN=a,,O=b',
    'CN=a;O=b',
    'CN="a"',
    'CN=a<b',
    'CN=a\\',
    'CN=\\ff',
    'CN=#zz',
    'CN=#0c05617069',
    'CN=#02010a',
    'C N=a',
  ]) {
    t.equal(parseName(text), undefined, text)
    t.notOk(isSameName(text, text), text)
  }
  t.notOk(isSameName('CN=a', undefined), 'and a certificate may have no subject')
})
