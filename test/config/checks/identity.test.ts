import t from 'tap'
import { holdsEach } from '../cases.ts'
import { forwarded } from '../support.ts'

const upstreams = { items: { targets: ['http://127.0.0.1:9000'] } }
const jwks = { method: 'GET', path: '/jwks', serves: 'jwks' }
const signed = { name: 'Signed', identity: 'assertion', operations: [forwarded] }
const keys = { name: 'Keys', operations: [jwks] }

holdsEach(t, [
  {
    says: 'upstreams can verify a signed identity, because an operation serves jwks',
    refused: { groupings: [signed], upstreams },
    message: /groupings\[0\]\.identity: needs an operation that serves jwks/,
    accepted: { groupings: [signed, keys], upstreams },
  },
  {
    says: 'an identity that is also sent in headers is signed too',
    refused: { groupings: [{ ...signed, identity: 'both' }], upstreams },
    message: /identity: needs an operation that serves jwks/,
    accepted: { groupings: [{ ...signed, identity: 'headers' }], upstreams },
  },
  {
    says: 'identity is one of three values',
    refused: { groupings: [{ ...signed, identity: 'jwt' }, keys], upstreams },
    message: /identity: must be headers, assertion or both/,
    accepted: { groupings: [{ ...signed, identity: 'both' }, keys], upstreams },
  },
  {
    says: 'forwardedHeader is one of three values',
    refused: { forwardedHeader: 'none' },
    message: /forwardedHeader: must be x-forwarded, forwarded or both/,
    accepted: { forwardedHeader: 'forwarded' },
  },
])
