import t from 'tap'
import { holdsEach } from '../cases.ts'
import { client } from '../support.ts'

const redirecting = (...redirect_uris: readonly string[]): unknown => ({ clients: [client({ redirect_uris })] })

holdsEach(t, [
  {
    says: 'a redirect URI is absolute',
    refused: redirecting('/callback'),
    message: /redirect_uris\[0\]: not absolute/,
    accepted: redirecting('https://a.example/callback'),
  },
  {
    says: 'a redirect URI has no fragment',
    refused: redirecting('https://a.example/#'),
    message: /redirect_uris\[0\]: has a fragment/,
    accepted: redirecting('https://a.example/?a=b'),
  },
  {
    says: 'a redirect URI has no wildcard',
    refused: redirecting('https://*.a.example/'),
    message: /redirect_uris\[0\]: has a wildcard/,
    accepted: redirecting('https://b.a.example/'),
  },
  {
    says: 'http redirects go to loopback hosts only',
    refused: redirecting('http://a.example/'),
    message: /redirect_uris\[0\]: http is only for 127\.0\.0\.1, \[::1\] and localhost/,
    accepted: redirecting('http://127.0.0.1:3000/', 'http://[::1]/', 'http://localhost/a'),
  },
  {
    says: 'a host that only begins like a loopback address is not a loopback address',
    refused: redirecting('http://localhost.a.example/'),
    message: /http is only for 127\.0\.0\.1, \[::1\] and localhost/,
    accepted: redirecting('http://localhost/'),
  },
  {
    says: 'a private-use scheme has a dot',
    refused: redirecting('myapp:/callback'),
    message: /a private-use scheme has a dot, such as com\.example\.app:\/callback \(RFC 8252 section 7\.1\)/,
    accepted: redirecting('com.example.myapp:/callback'),
  },
  {
    says: 'javascript: is no redirect',
    refused: redirecting('javascript:alert(1)'),
    message: /a private-use scheme has a dot, such as com\.example\.app:\/callback \(RFC 8252 section 7\.1\)/,
    accepted: redirecting('https://a.example/javascript:'),
  },
  {
    says: 'data: is no redirect',
    refused: redirecting('data:text/html,hello'),
    message: /a private-use scheme has a dot, such as com\.example\.app:\/callback \(RFC 8252 section 7\.1\)/,
    accepted: redirecting('https://a.example/data:'),
  },
  {
    says: 'a redirect URI names no user',
    refused: redirecting('https://a.example@b.example/'),
    message: /contains user information/,
    accepted: redirecting('https://a.example/@b.example'),
  },
  {
    says: 'a redirect URI is a URI',
    refused: redirecting('https://a.example/\\b'),
    message: /not a URI/,
    accepted: redirecting('https://a.example/%5Cb'),
  },
])
