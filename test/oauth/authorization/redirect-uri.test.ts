import t from 'tap'
import { appendToRedirect, isRegisteredRedirect } from '../../../src/oauth/authorization/redirect-uri.ts'
import { demoClient } from '../support/browser-flow.ts'

const web = { ...demoClient, redirect_uris: ['https://app.example/cb', 'http://127.0.0.1:3000/cb'] }
const native = {
  ...demoClient,
  application_type: 'native' as const,
  redirect_uris: ['http://127.0.0.1/cb?x=1', 'http://[::1]:9/cb', 'http://localhost/cb', 'https://127.0.0.1/cb'],
}

t.test('a redirect URI matches only the same bytes (RFC 9700 section 2.1; checklist 41)', async t => {
  t.equal(isRegisteredRedirect(web, 'https://app.example/cb'), true)
  const near = [
    'https://app.example/cb/',
    'https://app.example/CB',
    'https://APP.example/cb',
    'https://app.example/%63b',
    'https://app.example/x/../cb',
    'https://app.example/cb%2e',
    'https://app.example/cb?a=b',
    'https://app.example/cb#',
    'https://app.example/cb#x',
    'https://app.example/cb;x',
    'https://app.example/cb\\',
    'https://user@app.example/cb',
    'https://www.app.example/cb',
    'https://app.example.evil.example/cb',
    'https://app.example:443/cb',
    'http://app.example/cb',
    ' https://app.example/cb',
    'http://127.0.0.1:3001/cb',
    'http://127.0.0.1/cb',
  ]
  for (const uri of near) t.equal(isRegisteredRedirect(web, uri), false, uri)
})

t.test(
  'a native client may choose the port of a loopback address, and only the port (RFC 8252 section 7.3; checklist 42)',
  async t => {
    for (const uri of ['http://127.0.0.1:51004/cb?x=1', 'http://127.0.0.1/cb?x=1', 'http://[::1]:65535/cb']) {
      t.equal(isRegisteredRedirect(native, uri), true, uri)
    }
    const near = [
      'http://127.0.0.1:51004/cb',
      'http://127.0.0.1:51004/cb?x=2',
      'http://127.0.0.1:51004/CB?x=1',
      'http://127.0.0.1:70000/cb?x=1',
      'http://127.0.0.1:0/cb?x=1',
      'http://127.0.0.1:/cb?x=1',
      'http://127.0.0.1:80@evil.example/cb?x=1',
      'http://127.0.0.1.evil.example/cb?x=1',
      'http://127.0.0.2:51004/cb?x=1',
      'https://127.0.0.1:51004/cb',
      'http://localhost:51004/cb',
    ]
    for (const uri of near) t.equal(isRegisteredRedirect(native, uri), false, uri)
  },
)

t.test(
  'the query of a redirect URI is kept, and the response parameters follow it (RFC 6749 section 3.1.2; checklist 45)',
  async t => {
    const parameters = { code: 'a b', state: undefined, iss: 'http://x' }
    t.equal(appendToRedirect('http://a/cb', parameters), 'http://a/cb?code=a%20b&iss=http%3A%2F%2Fx')
    t.equal(appendToRedirect('http://a/cb?t=1', parameters), 'http://a/cb?t=1&code=a%20b&iss=http%3A%2F%2Fx')
    t.equal(appendToRedirect('http://a/cb?', parameters), 'http://a/cb?code=a%20b&iss=http%3A%2F%2Fx')
    t.equal(appendToRedirect('app.example:/cb', parameters), 'app.example:/cb?code=a%20b&iss=http%3A%2F%2Fx')
  },
)
