import t from 'tap'
import { holdsEach } from '../cases.ts'
import { forwarded } from '../support.ts'

const upstreams = { items: { targets: ['http://127.0.0.1:9000'] } }
const jwks = { method: 'GET', path: '/jwks', serves: 'jwks' }
const signed = { name: 'Signed', identity: 'assertion', operations: [forwarded] }
const keys = { name: 'Keys', operations: [jwks] }

holdsEach(t, [
  {
    says: 'what is signed for upstreams can be checked by them',
    refused: { groupings: [signed], upstreams },
    message: /groupings\[0\]\.identity: needs an operation that serves jwks/,
    accepted: { groupings: [signed, keys], upstreams },
  },
  {
    says: 'beside the headers it is signed all the same',
    refused: { groupings: [{ ...signed, identity: 'both' }], upstreams },
    message: /identity: needs an operation that serves jwks/,
    accepted: { groupings: [{ ...signed, identity: 'headers' }], upstreams },
  },
  {
    says: 'identity is one of three words',
    refused: { groupings: [{ ...signed, identity: 'jwt' }, keys], upstreams },
    message: /identity: must be headers, assertion or both/,
    accepted: { groupings: [{ ...signed, identity: 'both' }, keys], upstreams },
  },
  {
    says: 'forwardedHeader is one of three words',
    refused: { forwardedHeader: 'none' },
    message: /forwardedHeader: must be x-forwarded, forwarded or both/,
    accepted: { forwardedHeader: 'forwarded' },
  },
])
