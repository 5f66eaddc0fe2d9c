import { neighbours, passed, type RawCase, request, shown } from './raw-case.ts'

/** Fields that only the gateway may set, in spellings that servers read as the same name; none may arrive. */
const claims: readonly string[] = [
  'X-Sidegate-Client-Id: evil',
  'x-sidegate-client-id: evil',
  'X-SIDEGATE-CLIENT-ID: evil',
  'x_sidegate_client_id: evil',
  'X-Sidegate_Client-Id: evil',
  'X.Sidegate.Client.Id: evil',
  "X'Sidegate'Client'Id: evil",
  'X-Sidegate-Client-Id: evil\r\nX-Sidegate-Client-Id: evil',
  'X-Sidegate-Subject: evil',
  'X-Sidegate-Scope: evil',
  'X-Sidegate-Grouping: evil',
  'X-Sidegate-Assertion: evil',
  'X-Sidegate-Anything: evil',
  'X-Sidegate-: evil',
  'X-Request-Id: evil',
  'X_Request_Id: evil',
  'X-Forwarded-For: evil',
  'X_Forwarded_For: evil',
  'X-Forwarded-Proto: evil',
  'X-Forwarded-Host: evil',
  'X-Forwarded-Port: evil',
  'X-Forwarded-Prefix: evil',
  'X-Forwarded-User: evil',
  'X-Forwarded-Client-Cert: evil',
  'Forwarded: for=evil',
  'X-Real-IP: evil',
  'True-Client-IP: evil',
  'CF-Connecting-IP: evil',
  'Remote-User: evil',
  'X-Remote-User: evil',
  'Client-Cert: :evil:',
  'X-SSL-Client-Verify: evil',
  'X-Original-URL: /evil',
  'X-Rewrite-URL: /evil',
  'X-Original-Method: DELETE',
  'X-Auth-Request-User: evil',
  'X-HTTP-Method-Override: evil',
  'X-Method-Override: evil',
  'X-Envoy-External-Address: evil',
  'X-Azure-ClientIP: evil',
  'X-Credential-Identifier: evil',
  'X-Consumer-Username: evil',
  'X-Authenticated-User: evil',
  'X-User: evil',
  'X-ProxyUser-Ip: evil',
  'X-Original-Forwarded-For: evil',
  'Proxy: evil',
]

const hops: readonly string[] = [
  'Keep-Alive: evil',
  'Proxy-Connection: evil',
  'Proxy-Authorization: evil',
  'Proxy-Authenticate: evil',
  'TE: evil',
  'Trailer: evil',
  'Upgrade: evil',
  'HTTP2-Settings: evil',
  'Connection: X-Own\r\nX-Own: evil',
  'Connection: keep-alive, X-Own\r\nX-Own: evil',
  'Connection: x-a\r\nConnection: x-own\r\nX-OWN: evil',
  'Connection:X-Own ,\r\nX-Own: evil',
]

/** Fields that a client nominates in `Connection`, and that the gateway sets nevertheless. */
const nominated: readonly string[] = [
  'X-Sidegate-Client-Id',
  'X-Sidegate-Client-Id, X-Sidegate-Subject, X-Sidegate-Scope, X-Sidegate-Grouping',
  'Authorization',
  'Host',
  'X-Forwarded-For, X-Request-Id',
  'traceparent',
  'close, X-Sidegate-Client-Id',
  'keep-alive\r\nConnection: X-Sidegate-Client-Id',
]

const own = { 'x-sidegate-client-id': 'app', 'x-sidegate-subject': 'app', 'x-sidegate-scope': 'read write' }

/** The identity of the caller: the gateway's own fields arrive once, and the client's claims do not arrive. */
export const identityCases: readonly RawCase[] = [
  ...neighbours('L06', claims, line => ({
    what: `a client that sends ${shown(line)}`,
    bytes: request('GET BASE/x', [line]),
    ...passed,
    fields: { 'x-sidegate-client-id': undefined, 'x-sidegate-subject': undefined },
  })),
  ...neighbours('L06 token', claims.slice(0, 10), line => ({
    what: `a client with a token that sends ${shown(line)}`,
    bytes: request('GET BASE-guarded/x', ['Authorization: Bearer TOKEN', line]),
    ...passed,
    fields: { ...own, authorization: undefined },
  })),
  ...neighbours('L05 hop', hops, line => ({
    what: `the hop-by-hop field ${shown(line)}`,
    bytes: request('GET BASE/x', [line]),
    ...passed,
  })),
  ...neighbours('L05', nominated, names => ({
    what: `Connection: ${shown(names)}`,
    bytes: request('GET BASE-guarded/x', [
      `Connection: ${names}`,
      'X-Forwarded-For: evil',
      'Authorization: Bearer TOKEN',
      'X-Sidegate-Client-Id: evil',
    ]),
    statuses: [200],
    forwarded: 1,
    fields: { ...own, authorization: undefined, 'x-forwarded-for': '127.0.0.1' },
  })),
  ...neighbours(
    'L07',
    [
      'Bearer evil',
      'Bearer',
      'Bearer TOKEN, Bearer evil',
      'Basic ZXZpbDpldmls',
      'Bearer TOKEN\r\nAuthorization: Bearer evil',
    ],
    value => ({
      what: `Authorization: ${shown(value)}`,
      bytes: request('GET BASE-guarded/x', [`Authorization: ${value}`]),
      statuses: [400, 401],
    }),
  ),
]
