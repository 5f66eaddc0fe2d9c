import t from 'tap'
import { parseTarget } from '../../../src/http/message/request-target.ts'

t.test('path and query are separated, and the query is not changed', async t => {
  const cases = [
    ['/', { path: '/', query: '' }],
    ['/a/b', { path: '/a/b', query: '' }],
    ['/a?', { path: '/a', query: '' }],
    ['/a?x=1?y=%2e%2e/..//', { path: '/a', query: 'x=1?y=%2e%2e/..//' }],
    ['/a/', { path: '/a/', query: '' }],
  ] as const

  for (const [url, target] of cases) t.same(parseTarget(url), target, url)
})

t.test('what needs no encoding is decoded, what does is put in one form (RFC 3986 section 6.2.2)', async t => {
  const cases = [
    ['/%61dmin', '/admin'],
    ['/%41%7e%2D%5f', '/A~-_'],
    ['/caf%c3%a9', '/caf%C3%A9'],
    ['/a%20b', '/a%20b'],
    ['/a%3ab', '/a%3Ab'],
    ['/..a/.b/c..', '/..a/.b/c..'],
    ["/!$&'()*+,=:@", "/!$&'()*+,=:@"],
  ] as const

  for (const [url, path] of cases) t.equal(parseTarget(url)?.path, path, url)
})

t.test('what can be read in two ways is refused', async t => {
  const refused = [
    '',
    '*',
    'a',
    'http://gw.test/a',
    '/..',
    '/.',
    '/a/../b',
    '/a/./b',
    '/a/.',
    '/%2e%2e/a',
    '/a/.%2E/b',
    '/a%2fb',
    '/a%5Cb',
    '/a\\b',
    '/a;b=1',
    '/a%3Bb',
    '/a%00',
    '/a%0a',
    '/a%7f',
    '/a%',
    '/a%4',
    '/a%zz',
    '//a',
    '/a//b',
    '/a//',
    '/a#b',
    '/a?b#c',
    '/caf\xe9',
    '/a b',
  ]

  for (const url of refused) t.equal(parseTarget(url), undefined, url)
})
