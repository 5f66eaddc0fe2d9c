import { type RawCase, refused } from './raw-case.ts'

/** Header fields and their limits. */
export const headerCases: readonly RawCase[] = [
  {
    id: 'L01a',
    what: 'one header of 64 KiB',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\nX-A: ${'a'.repeat(65_536)}\r\n\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L01b',
    what: '20,000 headers',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n${'a:b\r\n'.repeat(20_000)}\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L01c',
    what: 'a header name of 64 KiB',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n${'a'.repeat(65_536)}: b\r\n\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L01d',
    what: 'a method of 64 KiB',
    bytes: `${'A'.repeat(65_536)} BASE/x HTTP/1.1\r\nHOST\r\n\r\n`,
    ...refused,
  },
  {
    id: 'L01e',
    what: 'a target of 64 KiB',
    bytes: `GET BASE/${'a'.repeat(65_536)} HTTP/1.1\r\nHOST\r\n\r\n`,
    statuses: [414, 431],
    closes: true,
  },
  {
    id: 'L01f',
    what: '2,500 headers, few enough bytes',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n${'a:\r\n'.repeat(2500)}X-Sidegate-Client-Id: evil\r\n\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L05',
    what: 'Connection that nominates what the gateway sets',
    bytes:
      'GET BASE/x HTTP/1.1\r\nHOST\r\nConnection: close, X-Forwarded-For, Authorization, X-Sidegate-Client-Id, X-Own, X-Sidegate-Grouping\r\nX-Forwarded-For: evil\r\nAuthorization: Bearer evil\r\nX-Sidegate-Client-Id: evil\r\nX-Own: evil\r\n\r\n',
    statuses: [200],
    closes: true,
    forwarded: 1,
  },
  {
    id: 'L05b',
    what: 'hop-by-hop fields',
    bytes:
      'GET BASE/x HTTP/1.1\r\nHOST\r\nKeep-Alive: evil\r\nProxy-Connection: evil\r\nProxy-Authorization: evil\r\nTE: evil\r\nTrailer: evil\r\nUpgrade: evil\r\nHTTP2-Settings: evil\r\n\r\n',
    statuses: [200],
    forwarded: 1,
  },
  {
    id: 'L06',
    what: 'identity fields in every spelling',
    bytes:
      'GET BASE/x HTTP/1.1\r\nHOST\r\nX-Sidegate-Client-Id: evil\r\nx_sidegate_client_id: evil\r\nX-SIDEGATE-CLIENT-ID: evil\r\nX-Sidegate_Scope: evil\r\nX-Sidegate-Anything: evil\r\nX-Request-Id: evil\r\nX-Forwarded-For: evil\r\nX-Forwarded-Proto: evil\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Port: evil\r\nForwarded: for=evil\r\nX-Real-IP: evil\r\nX_Request_Id: evil\r\n\r\n',
    statuses: [200],
    forwarded: 1,
  },
  {
    id: 'L06c',
    what: 'fields that upstreams take for another address, user, path or method',
    bytes:
      'GET BASE/x HTTP/1.1\r\nHOST\r\nX.Sidegate.Client.Id: evil\r\nTrue-Client-IP: evil\r\nCF-Connecting-IP: evil\r\nRemote-User: evil\r\nX-Remote-User: evil\r\nX-Original-URL: /evil\r\nX-Rewrite-URL: /evil\r\nX-HTTP-Method-Override: evil\r\nX-Method-Override: evil\r\n\r\n',
    statuses: [200],
    forwarded: 1,
  },
  {
    id: 'L06b',
    what: 'an identity field with a space before its colon',
    bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nX-Sidegate-Client-Id : evil\r\n\r\n',
    ...refused,
  },
  {
    id: 'L09a',
    what: 'Expect: 200-ok',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nExpect: 200-ok\r\nContent-Length: 5\r\n\r\nhello',
    statuses: [417],
  },
  {
    id: 'L09b',
    what: 'Expect: 100-continue with the body at hand',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello',
    statuses: [100],
    forwarded: 1,
    body: /^hello$/,
  },
]
