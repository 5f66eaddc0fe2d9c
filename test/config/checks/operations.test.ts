import t from 'tap'
import { holdsEach } from '../cases.ts'
import { authorize, forwarded, publishing, token } from '../support.ts'

const par = { method: 'POST', path: '/par', serves: 'par' }

holdsEach(t, [
  {
    says: 'an operation does not serve and forward at once',
    refused: publishing({ ...token, upstream: 'items' }),
    message: /operations\[0\]\.upstream: excludes serves/,
    accepted: publishing(token),
  },
  {
    says: 'an operation serves or forwards',
    refused: publishing({ method: 'GET', path: '/items' }),
    message: /operations\[0\]: has no target; set serves, or an upstream here or at the grouping/,
    accepted: publishing(forwarded),
  },
  {
    says: 'the upstream of an operation exists',
    refused: publishing({ ...forwarded, upstream: 'item' }),
    message: /upstream: no such upstream/,
    accepted: publishing(forwarded),
  },
  {
    says: 'the upstream of a grouping exists',
    refused: { groupings: [{ name: 'G', upstream: 'items' }] },
    message: /groupings\[0\]\.upstream: no such upstream; define it/,
    accepted: { groupings: [{ name: 'G', upstream: 'items' }], upstreams: { items: { targets: ['http://a'] } } },
  },
  {
    says: '** is at the end',
    refused: publishing({ ...forwarded, path: '/**/a' }),
    message: /path: \*\* is allowed only at the end/,
    accepted: publishing({ ...forwarded, path: '/a/**' }),
  },
  {
    says: '* is a whole segment',
    refused: publishing({ ...forwarded, path: '/a*' }),
    message: /path: a \* must be a whole segment, not a part of one/,
    accepted: publishing({ ...forwarded, path: '/a/*' }),
  },
  {
    says: 'a path begins with a slash',
    refused: publishing({ ...forwarded, path: 'items' }),
    message: /path: a path begins with \//,
    accepted: publishing({ ...forwarded, path: '/' }),
  },
  {
    says: 'a path has no query',
    refused: publishing({ ...forwarded, path: '/items?all' }),
    message: /path: a path has no query/,
    accepted: publishing({ ...forwarded, path: '/items/all' }),
  },
  {
    says: 'what needs no encoding is not encoded, since requests are compared in that form',
    refused: publishing({ ...forwarded, path: '/%61dmin' }),
    message: /path: write letters, digits and -\._~ unescaped, and escapes in capitals/,
    accepted: publishing({ ...forwarded, path: '/admin%20a' }),
  },
  {
    says: 'an escape is written in capitals',
    refused: publishing({ ...forwarded, path: '/%c3%a4' }),
    message: /path: .*escapes in capitals/,
    accepted: publishing({ ...forwarded, path: '/%C3%A4' }),
  },
  {
    says: 'an operation cannot have a path that Sidegate refuses in every request',
    refused: publishing({ ...forwarded, path: '/a%2Fb' }),
    message: /path: requests with /,
    accepted: publishing({ ...forwarded, path: '/a%23b' }),
  },
  {
    says: 'a path does not lead upwards, not even percent-encoded',
    refused: publishing({ ...forwarded, path: '/a/%2E./b' }),
    message: /path: \. and \.\. are not allowed/,
    accepted: publishing({ ...forwarded, path: '/a/.../b' }),
  },
  {
    says: 'no segment of a path is empty',
    refused: publishing({ ...forwarded, path: '/a//b' }),
    message: /path: a segment is empty/,
    accepted: publishing({ ...forwarded, path: '/a/b' }),
  },
  {
    says: 'a path does not end with a slash',
    refused: publishing({ ...forwarded, path: '/a/' }),
    message: /path: a segment is empty/,
    accepted: publishing({ ...forwarded, path: '/a' }),
  },
  {
    says: 'a path is percent-encoded',
    refused: publishing({ ...forwarded, path: '/a b' }),
    message: /path: has characters that a path cannot have/,
    accepted: publishing({ ...forwarded, path: '/a%20b' }),
  },
  {
    says: 'the login pages keep their path where authorize is served',
    refused: publishing(authorize, { ...forwarded, path: '/interaction/*' }),
    message: /\/interaction belongs to the login pages/,
    accepted: publishing(token, { ...forwarded, path: '/interaction/*' }),
  },
  {
    says: 'methods are written in capitals',
    refused: publishing({ ...forwarded, method: 'Get' }),
    message: /method: must be one of GET/,
    accepted: publishing({ ...forwarded, method: 'GET' }),
  },
  {
    says: 'token is served for POST',
    refused: publishing({ ...token, method: 'GET' }),
    message: /method: token is served only for POST/,
    accepted: publishing(token),
  },
  {
    says: 'requests are pushed by POST',
    refused: publishing({ ...par, method: 'GET' }),
    message: /method: par is served only for POST/,
    accepted: publishing(par),
  },
  {
    says: 'requests are pushed by clients',
    refused: publishing({ ...par, credentials: 'none' }),
    message: /credentials: must be client for par/,
    accepted: publishing({ ...par, credentials: 'client' }),
  },
  {
    says: 'what Sidegate serves has a plain path',
    refused: publishing({ ...token, path: '/*/token' }),
    message: /path: an operation with serves has a path without wildcards/,
    accepted: publishing({ ...token, path: '/a/token' }),
  },
  {
    says: 'query credentials are for metadata and upstreams',
    refused: publishing({ ...token, credentials: 'query' }),
    message: /credentials: must be client for token/,
    accepted: publishing(
      { ...forwarded, credentials: 'query' },
      { method: 'GET', path: '/m', serves: 'metadata', credentials: 'query' },
    ),
  },
  {
    says: 'client credentials are for token, introspect and revoke',
    refused: publishing({ ...forwarded, credentials: 'client' }),
    message: /credentials: must be bearer or query or none for a forwarded operation/,
    accepted: publishing({ ...token, credentials: 'client' }),
  },
  {
    says: 'scopes are for bearer tokens',
    refused: publishing({ ...forwarded, credentials: 'none', scopes: ['read'] }),
    message: /scopes: only bearer tokens have scopes/,
    accepted: publishing({ ...forwarded, scopes: ['read'] }),
  },
  {
    says: 'a scope is one token',
    refused: publishing({ ...forwarded, scopes: ['read write'] }),
    message: /scopes\[0\]: a scope is printable ASCII without space/,
    accepted: publishing({ ...forwarded, scopes: ['read', 'write'] }),
  },
  {
    says: 'an operation without credentials cannot use the plan of the client',
    refused: publishing({ ...forwarded, credentials: 'none', plan: 'client' }),
    message: /plan: requests name no client whose plan could apply/,
    accepted: publishing({ ...authorize, plan: 'client' }),
  },
  {
    says: 'an operation without credentials may name a plan, if the plan exists',
    refused: publishing({ ...forwarded, credentials: 'none', plan: 'default' }),
    message: /plan: no such plan; known are default-plan/,
    accepted: publishing({ ...forwarded, credentials: 'none', plan: 'default-plan' }),
  },
  {
    says: 'an operation with credentials names no plan, because the client has one already',
    refused: publishing({ ...forwarded, plan: 'default-plan' }),
    message: /plan: must be client or none/,
    accepted: publishing({ ...forwarded, plan: 'none' }),
  },
  {
    says: 'only what is forwarded forwards Authorization',
    refused: publishing({ ...token, forwardAuthorization: true }),
    message: /forwardAuthorization: is only for forwarded operations/,
    accepted: publishing({ ...forwarded, forwardAuthorization: true }),
  },
  {
    says: 'only what is served is advertised',
    refused: publishing({ ...forwarded, advertise: true }),
    message: /advertise: is only for operations with serves/,
    accepted: publishing({ ...token, advertise: true }),
  },
])
