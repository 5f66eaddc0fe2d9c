import t from 'tap'
import { toTargetUri } from '../../../src/oauth/sender-constraint/target-uri.ts'

t.test('two forms of one URI are equal (RFC 9449 section 4.3; checklist 91)', async t => {
  const plain = toTargetUri('https://as.example/a/b~c')

  for (const same of [
    'HTTPS://AS.example/a/b~c',
    'https://as.example:443/a/b~c',
    'https://as.example/a/b%7Ec',
    'https://as.example/a/b%7ec',
    'https://as.example/x/../a/./b~c',
    'https://as.example/a/b~c?query#fragment',
  ]) {
    t.equal(toTargetUri(same), plain, same)
  }
  t.equal(toTargetUri('https://as.example/%c3%a9'), toTargetUri('https://as.example/%C3%A9'))
  t.equal(toTargetUri('https://as.example'), toTargetUri('https://as.example/'))
})

t.test('a URI with one other character is different (RFC 9449 section 4.3; checklist 91)', async t => {
  const plain = toTargetUri('https://as.example/a/b')

  for (const other of [
    'http://as.example/a/b',
    'https://as.example:8443/a/b',
    'https://as.example./a/b',
    'https://bs.example/a/b',
    'https://as.example/a/B',
    'https://as.example/a/b/',
    'https://as.example/a%2Fb',
    'https://as.example/a//b',
  ]) {
    t.not(toTargetUri(other), plain, other)
  }
})

t.test('a text that is not an http URI, or is ambiguous, is refused', async t => {
  for (const text of [
    '',
    '/a/b',
    'as.example/a',
    'urn:a:b',
    'ftp://as.example/a',
    'https://',
    'https://user@as.example/a',
    'https://user:pw@as.example/a',
    'https:\\\\as.example\\a',
    'https://as.example/a b',
    'https://as.example/a\n',
    ' https://as.example/a',
    'https://as.example/é',
  ]) {
    t.equal(toTargetUri(text), undefined, text)
  }
})
